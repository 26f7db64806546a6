package jobs

import (
	"io"
	"math"
)

// record is a row of any format, with values by column. A number is the 8 bytes of an integer or a double, or 0 or 1 for a boolean. The
// records report an invalid value at the next row.
type record interface {
	number(column int) uint64
	text(column int) []byte
	doubles(column int) []float64
	setNumber(column int, bits uint64)
	setText(column int, value []byte)
	setDoubles(column int, values []float64)
}

// records are a job's rows through the common interface. The interface costs a call for each value, and prevents optimizations that need a
// format's own rows.
type records interface {
	open(source io.Reader, sink io.Writer) error
	// next returns the next row, or nil at the end. If the job adds a column, the row includes that column, and the job must set its value.
	next() (record, error)
	// fresh returns an output row, in which the job must set each column.
	fresh() record
	write(row record) error
	close() error
}

// common returns the work of a benchmark for any format.
func common(job Job, rows records) Work {
	shape := shapeOf(job)
	each := func(change func(row record) error) error {
		for {
			row, err := rows.next()
			if row == nil || err != nil {
				return err
			}
			if err := change(row); err != nil {
				return err
			}
		}
	}
	one := func(value int64) error {
		row := rows.fresh()
		row.setNumber(0, uint64(value))
		return rows.write(row)
	}
	var work func() error
	switch job.Benchmark {
	case "wide":
		work = func() error {
			zeros := int64(0)
			err := each(func(row record) error {
				for column := range shape.input {
					if isZero(shape.input[column].Kind, row.number(column)) {
						zeros++
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			return one(zeros)
		}
	case "narrow":
		work = func() error {
			length := int64(0)
			err := each(func(row record) error {
				length += significant(row.number(number)) + int64(len(row.text(text)))
				return nil
			})
			if err != nil {
				return err
			}
			return one(length)
		}
	case "modify":
		work = func() error {
			return each(func(row record) error {
				row.setNumber(qty, row.number(qty)+1)
				return rows.write(row)
			})
		}
	case "extend":
		work = func() error {
			return each(func(row record) error {
				row.setNumber(shape.added, row.number(qty)+1)
				return rows.write(row)
			})
		}
	case "complex":
		work = func() error {
			var values []float64
			return each(func(row record) error {
				values = incremented(values[:0], row.doubles(scores))
				row.setDoubles(scores, values)
				return rows.write(row)
			})
		}
	case "write":
		work = func() error {
			for number := job.First; number < job.Stop; number++ {
				row := rows.fresh()
				row.setNumber(0, uint64(number))
				row.setNumber(1, written.userID)
				row.setNumber(2, math.Float64bits(written.price))
				row.setNumber(qty, uint64(written.qty))
				row.setNumber(4, 1)
				row.setText(5, written.name)
				row.setText(6, written.city)
				row.setText(7, written.email)
				row.setNumber(8, written.ts)
				row.setText(9, written.note)
				if err := rows.write(row); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return func(source io.Reader, sink io.Writer) error {
		if err := rows.open(source, sink); err != nil {
			return err
		}
		if err := work(); err != nil {
			return err
		}
		return rows.close()
	}
}

// incremented appends the list that `complex` writes: each element plus 1, then the number of elements.
func incremented(to, values []float64) []float64 {
	for _, value := range values {
		to = append(to, value+1)
	}
	return append(to, float64(len(values)))
}
