package skiff

import (
	"encoding/binary"
	"fmt"
	"math"

	"storebench/images/formats/compiled/stream"
	"storebench/images/formats/compiled/table"
)

// Row is a row in its encoded form, which decodes a value on demand. A change of a fixed-size value is made in the row's buffer. Appended
// values are kept separately after the row; an insertion elsewhere builds a new buffer.
type Row struct {
	schema *Schema
	data   []byte
	tail   []byte // appended values
	starts []int  // offsets of the groups
	offset int64
	built  []byte // the row's new buffer after an insertion
}

// NewRow returns an empty row of a schema, for use with Scan.
func NewRow(schema *Schema) *Row {
	return &Row{schema: schema, starts: make([]int, len(schema.groups))}
}

// Scan finds a row at the start of data; `offset` is the offset of data in its stream. It returns the row's size, stream.ErrShort if data ends
// within the row, or an error about invalid data. The row keeps a reference to data.
func (row *Row) Scan(data []byte, offset int64, _ bool) (int, error) {
	row.offset = offset
	if len(data) < tableSize {
		return 0, stream.ErrShort
	}
	if number := binary.LittleEndian.Uint16(data); number != 0 {
		return 0, row.wrong(0, fmt.Sprintf("a row of table %d, and there is one table", number))
	}
	at := 0
	for number := range row.schema.groups {
		group := &row.schema.groups[number]
		row.starts[number] = at
		if len(data)-at < group.fixed {
			return 0, stream.ErrShort
		}
		for _, delta := range group.booleans {
			if data[at+delta] > 1 {
				return 0, row.wrong(at+delta, fmt.Sprintf("the boolean %d", data[at+delta]))
			}
		}
		at += group.fixed
		if group.last {
			break
		}
		var err error
		if at, err = row.skip(group.then, data, at); err != nil {
			return 0, err
		}
	}
	row.data, row.tail = data[:at:at], row.tail[:0]
	return at, nil
}

func (row *Row) wrong(at int, what string) error {
	return &stream.Error{Format: name, Offset: row.offset + int64(at), What: what}
}

// skip returns the end of a variable-size value.
func (row *Row) skip(kind table.Kind, data []byte, at int) (int, error) {
	switch kind {
	case table.String:
		return skipText(data, at)
	case table.OptionalString:
		found, err := row.tag(data, at, 1)
		if err != nil || found == 0 {
			return at + 1, err
		}
		return skipText(data, at+1)
	case table.Point:
		return skipText(data, at+8)
	}
	for { // lists and dicts
		found, err := row.tag(data, at, end)
		at++
		if err != nil || found == end {
			return at, err
		}
		if kind == table.Marks {
			if at, err = skipText(data, at); err != nil {
				return 0, err
			}
		}
		if at += 8; at > len(data) {
			return 0, stream.ErrShort
		}
	}
}

// tag returns the tag at an offset: 0 or `other`.
func (row *Row) tag(data []byte, at int, other byte) (byte, error) {
	if at >= len(data) {
		return 0, stream.ErrShort
	}
	if found := data[at]; found != 0 && found != other {
		return 0, row.wrong(at, fmt.Sprintf("the tag %d, where 0 or %d is known", found, other))
	}
	return data[at], nil
}

func skipText(data []byte, at int) (int, error) {
	if len(data)-at < lengthOf {
		return 0, stream.ErrShort
	}
	length := int(binary.LittleEndian.Uint32(data[at:]))
	if at += lengthOf; len(data)-at < length {
		return 0, stream.ErrShort
	}
	return at + length, nil
}

// at returns the offset of a column's value in the row.
func (row *Row) at(column int) int {
	place := &row.schema.places[column]
	return row.starts[place.group] + place.delta
}

// Bits returns the 8 bytes of a number, or the byte of a boolean.
func (row *Row) Bits(column int) uint64 {
	if row.schema.table[column].Kind == table.Boolean {
		return uint64(row.data[row.at(column)])
	}
	return binary.LittleEndian.Uint64(row.data[row.at(column):])
}

// Integer returns an integer's bits, or an error if the integer does not fit its column.
func (row *Row) Integer(column int) (uint64, error) {
	bits, kind := row.Bits(column), row.schema.table[column].Kind
	if !kind.Fits(bits) {
		return 0, row.wrong(row.at(column), kind.Shown(bits)+" does not fit its column")
	}
	return bits, nil
}

// SetBits changes a number in the row's buffer.
func (row *Row) SetBits(column int, bits uint64) {
	binary.LittleEndian.PutUint64(row.data[row.at(column):], bits)
}

// Text returns the bytes of a string.
func (row *Row) Text(column int) []byte {
	return text(row.data, row.at(column))
}

func text(data []byte, at int) []byte {
	length := int(binary.LittleEndian.Uint32(data[at:]))
	at += lengthOf
	return data[at : at+length : at+length]
}

// Doubles appends the elements of a list of doubles.
func (row *Row) Doubles(column int, to []float64) []float64 {
	for at := row.at(column); row.data[at] != end; at += 9 {
		to = append(to, math.Float64frombits(binary.LittleEndian.Uint64(row.data[at+1:])))
	}
	return to
}

// Append adds a number as the last column, without a change of the row's buffer.
func (row *Row) Append(bits uint64) {
	row.tail = binary.LittleEndian.AppendUint64(row.tail, bits)
}

// Insert adds a number before a column, in a new buffer. After that, the row can only be written.
func (row *Row) Insert(column int, bits uint64) {
	at := row.at(column)
	row.built = append(row.built[:0], row.data[:at]...)
	row.built = binary.LittleEndian.AppendUint64(row.built, bits)
	row.built = append(row.built, row.data[at:]...)
	row.data = row.built
}

// AppendWithDoubles appends the row to `to`, with another list of doubles in one of its columns.
func (row *Row) AppendWithDoubles(to []byte, column int, values []float64) []byte {
	next := row.starts[row.schema.places[column].group+1]
	to = append(to, row.data[:row.at(column)]...)
	to = AppendDoubles(to, values)
	return append(to, row.data[next:]...)
}

// AppendTo appends the row to `to`.
func (row *Row) AppendTo(to []byte) []byte {
	return append(append(to, row.data...), row.tail...)
}
