// Package yson reads and writes rows in binary YSON by its public specification, and like ytsaurus-client: each row is a map with the names of
// its columns, and a semicolon follows each row, each pair and each element of a list.
//
// A marker byte precedes each string, number and boolean. A string is its length and its bytes, an integer has 1 to 10 bytes. A dict is a list
// of pairs, and a pair is a list. Text YSON, with strings in quotes and numbers in decimal, is an error.
package yson

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"storebench/images/formats/compiled/stream"
	"storebench/images/formats/compiled/table"
)

const name = "YSON"

// The first byte of a value.
const (
	textMark   = 0x01
	intMark    = 0x02
	doubleMark = 0x03
	falseMark  = 0x04
	trueMark   = 0x05
	uintMark   = 0x06
	entityMark = '#'
)

// Decoder decodes rows into values.
type Decoder struct {
	table  table.Table
	keys   [][]byte // the columns' keys, as encoded before a value
	names  map[string]int
	places []int // the columns' indices in the decoded row
	seen   []uint64
	row    uint64 // the row's number, which `seen` stores for each column seen in the row
	data   []byte
	at     int
	offset int64
}

// NewDecoder returns a decoder of a table's rows. `places` are the columns' indices in a decoded row.
func NewDecoder(of table.Table, places []int) *Decoder {
	decoder := &Decoder{
		table: of, keys: keysOf(of), names: map[string]int{}, places: places, seen: make([]uint64, len(of)),
	}
	for number, column := range of {
		decoder.names[column.Name] = number
	}
	return decoder
}

// SamePlaces returns the indices for a decoded row with the same columns as the table.
func SamePlaces(of table.Table) []int {
	places := make([]int, len(of))
	for number := range places {
		places[number] = number
	}
	return places
}

// Row decodes the row at the start of data, like a stream.Decoder. Texts are references into data. The columns may be in any order; each must
// be present exactly once.
func (d *Decoder) Row(data []byte, offset int64, last bool, to *table.Row) (int, error) {
	d.data, d.at, d.offset = data, 0, offset
	if d.space(); d.at == len(data) {
		return d.at, stream.ErrNothing
	}
	if err := d.token('{', "a row, which is a map"); err != nil {
		return 0, err
	}
	d.row++
	for next, found := 0, 0; ; found++ {
		done, err := d.ends('}')
		if err != nil {
			return 0, err
		}
		if done {
			if found < len(d.table) {
				return 0, d.missing()
			}
			break
		}
		column, err := d.column(next)
		if err != nil {
			return 0, err
		}
		if err := d.value(column, to); err != nil {
			return 0, err
		}
		if err := d.separator('}'); err != nil {
			return 0, err
		}
		next = column + 1
	}
	if d.space(); d.at == len(data) {
		if last {
			return d.at, nil
		}
		return 0, stream.ErrShort
	}
	err := d.token(';', "the semicolon after a row")
	return d.at, err
}

func (d *Decoder) missing() error {
	for number, column := range d.table {
		if d.seen[number] != d.row {
			return d.wrong(d.at-1, fmt.Sprintf("the row ends, and has no column %s", column.Name))
		}
	}
	return nil
}

// column reads a key, and returns the index of its column. `next` is the expected index.
func (d *Decoder) column(next int) (int, error) {
	if next < len(d.keys) && bytes.HasPrefix(d.data[d.at:], d.keys[next]) {
		if d.seen[next] == d.row {
			return 0, d.wrong(d.at, fmt.Sprintf("the column %s is there twice", d.table[next].Name))
		}
		d.seen[next] = d.row
		d.at += len(d.keys[next])
		return next, nil
	}
	began := d.at
	key, err := d.text("a column's name")
	if err != nil {
		return 0, err
	}
	number, known := d.names[string(key)]
	if !known {
		return 0, d.wrong(began, fmt.Sprintf("the column %.40q, which the table has not", key))
	}
	if d.seen[number] == d.row {
		return 0, d.wrong(began, fmt.Sprintf("the column %s is there twice", key))
	}
	d.seen[number] = d.row
	return number, d.token('=', "the value of a column")
}

func (d *Decoder) value(column int, to *table.Row) (err error) {
	place, kind := d.places[column], d.table[column].Kind
	d.space()
	switch {
	case kind <= table.Uint64:
		began := d.at
		to.Numbers[place], err = d.integer(kind.Signed())
		if err == nil && !kind.Fits(to.Numbers[place]) {
			return d.wrong(began, kind.Shown(to.Numbers[place])+" does not fit its column")
		}
	case kind <= table.Double:
		to.Numbers[place], err = d.double()
	case kind == table.Boolean:
		to.Numbers[place], err = d.boolean()
	case kind == table.String:
		to.Texts[place], err = d.text("a string")
	case kind == table.OptionalString:
		if d.at < len(d.data) && d.data[d.at] == entityMark {
			d.at++
			to.Texts[place] = nil
		} else {
			to.Texts[place], err = d.text("a string or #")
		}
	case kind == table.DoubleList:
		to.Lists[place], err = d.doubles(to.Lists[place][:0])
	case kind == table.Point:
		err = d.point(to, place)
	case kind == table.Marks:
		to.Marks[place], err = d.marks(to.Marks[place][:0])
	}
	return err
}

func (d *Decoder) wrong(at int, what string) error {
	return &stream.Error{Format: name, Offset: d.offset + int64(at), What: what}
}

func (d *Decoder) space() {
	for d.at < len(d.data) && d.data[d.at] <= ' ' && isSpace(d.data[d.at]) {
		d.at++
	}
}

func isSpace(one byte) bool { return one == ' ' || '\t' <= one && one <= '\r' }

// token reads a required token.
func (d *Decoder) token(wanted byte, what string) error {
	d.space()
	if d.at == len(d.data) {
		return stream.ErrShort
	}
	if d.data[d.at] != wanted {
		return d.wrong(d.at, fmt.Sprintf("the byte %q, where %s (%q) has to be", d.data[d.at], what, wanted))
	}
	d.at++
	return nil
}

// ends returns whether a map or a list ends here, and reads its end.
func (d *Decoder) ends(end byte) (bool, error) {
	d.space()
	if d.at == len(d.data) {
		return false, stream.ErrShort
	}
	if d.data[d.at] != end {
		return false, nil
	}
	d.at++
	return true, nil
}

// separator reads the semicolon, which is optional before an end.
func (d *Decoder) separator(end byte) error {
	d.space()
	if d.at < len(d.data) && d.data[d.at] == end {
		return nil
	}
	return d.token(';', "a semicolon")
}

// mark reads the first byte of a value.
func (d *Decoder) mark(wanted byte, what string) error {
	if d.at == len(d.data) {
		return stream.ErrShort
	}
	if d.data[d.at] != wanted {
		return d.wrong(d.at, fmt.Sprintf("the byte %q, where %s has to be", d.data[d.at], what))
	}
	d.at++
	return nil
}

func (d *Decoder) varint() (uint64, error) {
	found, size := binary.Uvarint(d.data[d.at:])
	if size == 0 {
		return 0, stream.ErrShort
	}
	if size < 0 {
		return 0, d.wrong(d.at, "an integer of more than 64 bits")
	}
	d.at += size
	return found, nil
}

// zigzag decodes a number whose sign is in the last bit.
func zigzag(found uint64) uint64 { return found>>1 ^ -(found & 1) }

func (d *Decoder) integer(signed bool) (uint64, error) {
	if !signed {
		if err := d.mark(uintMark, "a uint64"); err != nil {
			return 0, err
		}
		return d.varint()
	}
	if err := d.mark(intMark, "an int64"); err != nil {
		return 0, err
	}
	found, err := d.varint()
	return zigzag(found), err
}

func (d *Decoder) double() (uint64, error) {
	if err := d.mark(doubleMark, "a double"); err != nil {
		return 0, err
	}
	if len(d.data)-d.at < 8 {
		return 0, stream.ErrShort
	}
	d.at += 8
	return binary.LittleEndian.Uint64(d.data[d.at-8:]), nil
}

func (d *Decoder) boolean() (uint64, error) {
	if d.at < len(d.data) && d.data[d.at] == trueMark {
		d.at++
		return 1, nil
	}
	return 0, d.mark(falseMark, "a boolean")
}

func (d *Decoder) text(what string) ([]byte, error) {
	if err := d.mark(textMark, what); err != nil {
		return nil, err
	}
	began := d.at
	found, err := d.varint()
	if err != nil {
		return nil, err
	}
	length := int64(zigzag(found))
	if length < 0 || length > math.MaxInt32 {
		return nil, d.wrong(began, fmt.Sprintf("the length %d of a string", length))
	}
	if int64(len(d.data)-d.at) < length {
		return nil, stream.ErrShort
	}
	d.at += int(length)
	return d.data[d.at-int(length) : d.at : d.at], nil
}

// each reads a list, and calls `element` for each of its elements.
func (d *Decoder) each(what string, element func() error) error {
	if err := d.token('[', what); err != nil {
		return err
	}
	for {
		if done, err := d.ends(']'); done || err != nil {
			return err
		}
		if err := element(); err != nil {
			return err
		}
		if err := d.separator(']'); err != nil {
			return err
		}
	}
}

func (d *Decoder) doubles(to []float64) ([]float64, error) {
	err := d.each("a list", func() error {
		bits, err := d.double()
		to = append(to, math.Float64frombits(bits))
		return err
	})
	return to, err
}

func (d *Decoder) marks(to []table.Mark) ([]table.Mark, error) {
	err := d.each("a list", func() (err error) {
		var mark table.Mark
		found := 0
		err = d.each("a pair", func() (err error) {
			switch found++; found {
			case 1:
				mark.Name, err = d.text("a string")
			case 2:
				var bits uint64
				bits, err = d.integer(true)
				mark.Number = int64(bits)
			default:
				err = d.wrong(d.at, "a third element of a pair")
			}
			return err
		})
		if err == nil && found < 2 {
			err = d.wrong(d.at-1, "a pair ends, and has not two elements")
		}
		to = append(to, mark)
		return err
	})
	return to, err
}

func (d *Decoder) point(to *table.Row, place int) error {
	if err := d.token('{', "a struct, which is a map"); err != nil {
		return err
	}
	for x, y := false, false; ; {
		done, err := d.ends('}')
		if err != nil {
			return err
		}
		if done {
			if !x || !y {
				return d.wrong(d.at-1, "a struct ends, and has not both x and y")
			}
			return nil
		}
		began := d.at
		key, err := d.text("a field's name")
		if err != nil {
			return err
		}
		if err := d.token('=', "the value of a field"); err != nil {
			return err
		}
		d.space()
		switch {
		case string(key) == "x" && !x:
			x = true
			to.Numbers[place], err = d.integer(true)
		case string(key) == "y" && !y:
			y = true
			to.Texts[place], err = d.text("a string")
		default:
			err = d.wrong(began, fmt.Sprintf("the field %.40q, and not x and y, each once", key))
		}
		if err != nil {
			return err
		}
		if err := d.separator('}'); err != nil {
			return err
		}
	}
}
