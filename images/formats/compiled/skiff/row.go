package skiff

import (
	"encoding/binary"
	"fmt"
	"math"

	"storebench/images/formats/compiled/stream"
	"storebench/images/formats/compiled/table"
)

// Row is a row that stays as it was read: a value is decoded when it is asked for. A value of a fixed size is changed in the row's
// buffer. What is appended is behind the row; what is inserted anywhere else makes a new buffer of the row.
type Row struct {
	schema *Schema
	data   []byte
	tail   []byte // values that were appended
	starts []int  // of the groups
	offset int64
	built  []byte // the buffer of a row into which a value was inserted
}

// NewRow makes a row of a schema, to be filled by Scan.
func NewRow(schema *Schema) *Row {
	return &Row{schema: schema, starts: make([]int, len(schema.groups))}
}

// Scan finds a row at the start of data, which has the offset in its stream. It says the row's size, or stream.ErrShort where data
// ends within the row, or what is wrong. The row keeps the data.
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

// skip is where a value of a size that is not fixed ends.
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

// tag is the one at a place: 0, or the other one that is known.
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

// at is where a column's value is in the row.
func (row *Row) at(column int) int {
	place := &row.schema.places[column]
	return row.starts[place.group] + place.delta
}

// Bits are the 8 bytes of a number, or the byte of a boolean.
func (row *Row) Bits(column int) uint64 {
	if row.schema.table[column].Kind == table.Boolean {
		return uint64(row.data[row.at(column)])
	}
	return binary.LittleEndian.Uint64(row.data[row.at(column):])
}

// Integer has an integer's bits, and says whether it fits its column.
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

// Text is the bytes of a string.
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

// Append adds a number as the last column: the row's buffer stays as it is.
func (row *Row) Append(bits uint64) {
	row.tail = binary.LittleEndian.AppendUint64(row.tail, bits)
}

// Insert adds a number before a column: a new buffer is made of the row. After that the row can only be written.
func (row *Row) Insert(column int, bits uint64) {
	at := row.at(column)
	row.built = append(row.built[:0], row.data[:at]...)
	row.built = binary.LittleEndian.AppendUint64(row.built, bits)
	row.built = append(row.built, row.data[at:]...)
	row.data = row.built
}

// AppendWithDoubles writes the row after `to`, with another list of doubles in one of its columns.
func (row *Row) AppendWithDoubles(to []byte, column int, values []float64) []byte {
	next := row.starts[row.schema.places[column].group+1]
	to = append(to, row.data[:row.at(column)]...)
	to = AppendDoubles(to, values)
	return append(to, row.data[next:]...)
}

// AppendTo writes the row after `to`.
func (row *Row) AppendTo(to []byte) []byte {
	return append(append(to, row.data...), row.tail...)
}
