package yson

import (
	"encoding/binary"
	"math"

	"storebench/images/formats/compiled/table"
)

// Encoder writes the rows of a table.
type Encoder struct {
	table  table.Table
	keys   [][]byte
	places []int // the columns' indices in a decoded row
}

// NewEncoder returns an encoder of a table's rows. `places` are the columns' indices in a decoded row.
func NewEncoder(of table.Table, places []int) *Encoder { return &Encoder{of, keysOf(of), places} }

// keysOf returns the columns' keys, as encoded before a value.
func keysOf(of table.Table) [][]byte {
	keys := make([][]byte, len(of))
	for number, column := range of {
		keys[number] = append(appendText(nil, []byte(column.Name)), '=')
	}
	return keys
}

// AppendRow appends a row to `to`.
func (e *Encoder) AppendRow(to []byte, row *table.Row) []byte {
	to = append(to, '{')
	for number := range e.table {
		to = append(to, e.keys[number]...)
		place := e.places[number]
		switch kind := e.table[number].Kind; {
		case kind <= table.Uint64:
			to = appendInteger(to, kind, row.Numbers[place])
		case kind <= table.Double:
			to = appendDouble(to, row.Numbers[place])
		case kind == table.Boolean:
			to = append(to, falseMark+byte(row.Numbers[place]))
		case kind == table.String:
			to = appendText(to, row.Texts[place])
		case kind == table.OptionalString:
			if row.Texts[place] == nil {
				to = append(to, entityMark)
			} else {
				to = appendText(to, row.Texts[place])
			}
		case kind == table.DoubleList:
			to = append(to, '[')
			for _, value := range row.Lists[place] {
				to = append(appendDouble(to, math.Float64bits(value)), ';')
			}
			to = append(to, ']')
		case kind == table.Point:
			to = appendInteger(append(to, "{\x01\x02x="...), table.Int64, row.Numbers[place])
			to = appendText(append(to, ";\x01\x02y="...), row.Texts[place])
			to = append(to, ";}"...)
		case kind == table.Marks:
			to = append(to, '[')
			for _, mark := range row.Marks[place] {
				to = append(appendText(append(to, '['), mark.Name), ';')
				to = append(appendInteger(to, table.Int64, uint64(mark.Number)), ";];"...)
			}
			to = append(to, ']')
		}
		to = append(to, ';')
	}
	return append(to, "};"...)
}

func appendInteger(to []byte, kind table.Kind, bits uint64) []byte {
	if kind.Signed() {
		return binary.AppendUvarint(append(to, intMark), bits<<1^uint64(int64(bits)>>63))
	}
	return binary.AppendUvarint(append(to, uintMark), bits)
}

func appendDouble(to []byte, bits uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(to, doubleMark), bits)
}

func appendText(to, value []byte) []byte {
	return append(binary.AppendUvarint(append(to, textMark), uint64(len(value))<<1), value...)
}
