package jobs

import (
	"math"

	"storebench/images/formats/compiled/table"
)

// values is a record with all values decoded, or with all values to encode.
type values struct{ *table.Row }

func (v values) number(column int) uint64          { return v.Numbers[column] }
func (v values) text(column int) []byte            { return v.Texts[column] }
func (v values) doubles(column int) []float64      { return v.Lists[column] }
func (v values) setNumber(column int, bits uint64) { v.Numbers[column] = bits }
func (v values) setText(column int, value []byte)  { v.Texts[column] = value }
func (v values) setDoubles(column int, values []float64) {
	v.Lists[column] = append(v.Lists[column][:0], values...)
}

// fillWritten fills a generated row.
func fillWritten(row *table.Row, number int64) {
	row.Numbers[0] = uint64(number)
	row.Numbers[1] = written.userID
	row.Numbers[2] = math.Float64bits(written.price)
	row.Numbers[qty] = uint64(written.qty)
	row.Numbers[4] = 1
	row.Texts[5] = written.name
	row.Texts[6] = written.city
	row.Texts[7] = written.email
	row.Numbers[8] = written.ts
	row.Texts[9] = written.note
}

// zeros counts the zeros in a decoded row of `wide`.
func (s shape) zeros(row *table.Row) (zeros int64) {
	for column := range s.input {
		if isZero(s.input[column].Kind, row.Numbers[column]) {
			zeros++
		}
	}
	return zeros
}

// length returns the number that a decoded row of `narrow` adds to the sum.
func length(row *table.Row) int64 {
	return significant(row.Numbers[number]) + int64(len(row.Texts[text]))
}
