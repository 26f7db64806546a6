// Package table defines the benchmarks' tables, as in src/storebench/stores/map_formats/tables.py, and a decoded row.
package table

import "strconv"

// Kind is the type of a column.
type Kind uint8

const (
	Int8 Kind = iota
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float
	Double
	Boolean
	String
	OptionalString
	DoubleList
	Point // a struct: x, an int64, and y, a string
	Marks // a dict of strings to int64
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
}

// Table is a table: its columns in order.
type Table []Column

// Mark is an entry of a dict.
type Mark struct {
	Name   []byte
	Number int64
}

// Row holds the decoded values of a row. Each column uses its index in one or two of the slices, which are as long as the table.
type Row struct {
	Numbers []uint64    // integers and booleans, bits of floats and doubles, a point's x
	Texts   [][]byte    // strings, a point's y; nil for a missing optional string
	Lists   [][]float64 // lists of doubles
	Marks   [][]Mark    // dicts, in the order in which they were read
}

// NewRow returns an empty row. It allocates lists and dicts only for a table with such columns.
func NewRow(of Table) *Row {
	row := &Row{Numbers: make([]uint64, len(of)), Texts: make([][]byte, len(of))}
	for _, column := range of {
		switch column.Kind {
		case DoubleList:
			row.Lists = make([][]float64, len(of))
		case Marks:
			row.Marks = make([][]Mark, len(of))
		}
	}
	return row
}

// Signed returns whether a kind is a signed integer.
func (kind Kind) Signed() bool { return kind <= Int64 }

// Unsigned returns whether a kind is an unsigned integer.
func (kind Kind) Unsigned() bool { return Uint8 <= kind && kind <= Uint64 }

// Real returns whether a kind is a float or a double.
func (kind Kind) Real() bool { return kind == Float || kind == Double }

// Fits returns whether an integer, given as the bits of an int64 or a uint64, fits into an integer of this kind.
func (kind Kind) Fits(bits uint64) bool {
	if kind.Signed() {
		unused := 64 - 8<<kind
		return int64(bits)<<unused>>unused == int64(bits)
	}
	return bits>>(8<<(kind-Uint8)-1)>>1 == 0
}

// Shown returns an integer of this kind in decimal.
func (kind Kind) Shown(bits uint64) string {
	if kind.Signed() {
		return strconv.FormatInt(int64(bits), 10)
	}
	return strconv.FormatUint(bits, 10)
}

// Find returns the index of the column with this name, or -1.
func (of Table) Find(name string) int {
	for place, column := range of {
		if column.Name == name {
			return place
		}
	}
	return -1
}

// With returns a table with an additional column at `place`.
func (of Table) With(place int, column Column) Table {
	return append(append(append(Table{}, of[:place]...), column), of[place:]...)
}

// The tables, named as in src/storebench/stores/map_formats/tables.py.
var (
	Wide   = wide()
	Narrow = Table{{"number", Uint64}, {"text", String}}
	Middle = Table{
		{"id", Int64}, {"user_id", Uint64}, {"price", Double}, {"qty", Int64}, {"flag", Boolean}, {"name", String}, {"city", String},
		{"email", String}, {"ts", Uint64}, {"note", String},
	}
	Added    = Column{"next_qty", Int64}
	Extended = Middle.With(len(Middle), Added)
	Complex  = Table{{"note", OptionalString}, {"scores", DoubleList}, {"place", Point}, {"marks", Marks}}
	Zeros    = Table{{"zeros", Int64}}
	Length   = Table{{"length", Int64}}
)

func wide() Table {
	const columns, kinds = 1000, Double + 1
	found := make(Table, columns)
	for place := range found {
		found[place] = Column{"c" + strconv.Itoa(place), Kind(place % int(kinds))}
	}
	return found
}
