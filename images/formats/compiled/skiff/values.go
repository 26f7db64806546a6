package skiff

import (
	"encoding/binary"
	"math"

	"storebench/images/formats/compiled/table"
)

// Decode decodes all values of the row. Texts are references into the row.
func (row *Row) Decode(to *table.Row) error {
	for number, column := range row.schema.table {
		switch kind := column.Kind; {
		case kind <= table.Uint64:
			bits, err := row.Integer(number)
			if err != nil {
				return err
			}
			to.Numbers[number] = bits
		case kind <= table.Boolean:
			to.Numbers[number] = row.Bits(number)
		case kind == table.String:
			to.Texts[number] = row.Text(number)
		case kind == table.OptionalString:
			if at := row.at(number); row.data[at] == 0 {
				to.Texts[number] = nil
			} else {
				to.Texts[number] = text(row.data, at+1)
			}
		case kind == table.DoubleList:
			to.Lists[number] = row.Doubles(number, to.Lists[number][:0])
		case kind == table.Point:
			at := row.at(number)
			to.Numbers[number] = binary.LittleEndian.Uint64(row.data[at:])
			to.Texts[number] = text(row.data, at+8)
		case kind == table.Marks:
			to.Marks[number] = row.marks(number, to.Marks[number][:0])
		}
	}
	return nil
}

func (row *Row) marks(column int, to []table.Mark) []table.Mark {
	for at := row.at(column); row.data[at] != end; {
		key := text(row.data, at+1)
		at += 1 + lengthOf + len(key)
		to = append(to, table.Mark{Name: key, Number: int64(binary.LittleEndian.Uint64(row.data[at:]))})
		at += 8
	}
	return to
}

// AppendRow appends a row with these values to `to`.
func (schema *Schema) AppendRow(to []byte, row *table.Row) []byte {
	to = AppendTable(to)
	for number, column := range schema.table {
		switch kind := column.Kind; {
		case kind <= table.Double:
			to = AppendBits(to, row.Numbers[number])
		case kind == table.Boolean:
			to = append(to, byte(row.Numbers[number]))
		case kind == table.String:
			to = AppendText(to, row.Texts[number])
		case kind == table.OptionalString:
			if row.Texts[number] == nil {
				to = append(to, 0)
			} else {
				to = AppendText(append(to, 1), row.Texts[number])
			}
		case kind == table.DoubleList:
			to = AppendDoubles(to, row.Lists[number])
		case kind == table.Point:
			to = AppendText(AppendBits(to, row.Numbers[number]), row.Texts[number])
		case kind == table.Marks:
			for _, mark := range row.Marks[number] {
				to = AppendBits(AppendText(append(to, 0), mark.Name), uint64(mark.Number))
			}
			to = append(to, end)
		}
	}
	return to
}

// AppendTable begins a row of the only table.
func AppendTable(to []byte) []byte { return append(to, 0, 0) }

// AppendBits writes a number.
func AppendBits(to []byte, bits uint64) []byte { return binary.LittleEndian.AppendUint64(to, bits) }

// AppendText writes a string.
func AppendText(to, value []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(to, uint32(len(value))), value...)
}

// AppendDoubles writes a list of doubles.
func AppendDoubles(to []byte, values []float64) []byte {
	for _, value := range values {
		to = AppendBits(append(to, 0), math.Float64bits(value))
	}
	return append(to, end)
}
