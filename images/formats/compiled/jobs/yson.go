package jobs

import (
	"io"

	"storebench/images/formats/compiled/stream"
	"storebench/images/formats/compiled/table"
	"storebench/images/formats/compiled/yson"
)

const ysonName = "YSON"

// ysonFormat decodes all values of a row, each to its index in the output row.
type ysonFormat struct {
	shape
	decoder *yson.Decoder
	encoder *yson.Encoder
	row     *table.Row
}

// newYson ignores the position of a new column, and writes the column last: the columns of a map have no order.
func newYson(of shape) ysonFormat {
	made, places := of.output, yson.SamePlaces(of.output)
	if of.added >= 0 {
		made, places = table.Extended, append(of.places(), of.added)
	}
	return ysonFormat{of, yson.NewDecoder(of.input, of.places()), yson.NewEncoder(made, places), of.row()}
}

func (f ysonFormat) sample() ([]byte, error) {
	return yson.NewEncoder(f.input, yson.SamePlaces(f.input)).AppendRow(nil, table.NewRow(f.input)), nil
}

func (f ysonFormat) decode(data []byte, offset int64, last bool) (int, error) {
	return f.decoder.Row(data, offset, last, f.row)
}

func (f ysonFormat) rows(source io.Reader, each func(row *table.Row) error) error {
	in := stream.NewInput(source, ysonName)
	for {
		more, err := in.Next(f.decode)
		if !more || err != nil {
			return err
		}
		if err := each(f.row); err != nil {
			return err
		}
	}
}

func (f ysonFormat) mapped(change func(row *table.Row)) Work {
	return func(source io.Reader, sink io.Writer) error {
		out := stream.NewOutput(sink)
		err := f.rows(source, func(row *table.Row) error {
			change(row)
			out.Data = f.encoder.AppendRow(out.Data, row)
			return out.Written()
		})
		if err != nil {
			return err
		}
		return out.Flush()
	}
}

func (f ysonFormat) counted(count func(row *table.Row) int64) Work {
	return func(source io.Reader, sink io.Writer) error {
		sum := int64(0)
		err := f.rows(source, func(row *table.Row) error {
			sum += count(row)
			return nil
		})
		if err != nil {
			return err
		}
		out := stream.NewOutput(sink)
		f.row.Numbers[0] = uint64(sum)
		out.Data = f.encoder.AppendRow(out.Data, f.row)
		return out.Flush()
	}
}

func (f ysonFormat) wide() Work { return f.counted(f.zeros) }

func (f ysonFormat) narrow() Work { return f.counted(length) }

func (f ysonFormat) modify() Work {
	return f.mapped(func(row *table.Row) { row.Numbers[qty]++ })
}

func (f ysonFormat) extend() Work {
	return f.mapped(func(row *table.Row) { row.Numbers[f.added] = row.Numbers[qty] + 1 })
}

func (f ysonFormat) complex() Work {
	var made []float64
	return f.mapped(func(row *table.Row) {
		made = incremented(made[:0], row.Lists[scores])
		row.Lists[scores] = append(row.Lists[scores][:0], made...)
	})
}

func (f ysonFormat) write(first, stop int64) Work {
	return func(_ io.Reader, sink io.Writer) error {
		out := stream.NewOutput(sink)
		for number := first; number < stop; number++ {
			fillWritten(f.row, number)
			out.Data = f.encoder.AppendRow(out.Data, f.row)
			if err := out.Written(); err != nil {
				return err
			}
		}
		return out.Flush()
	}
}

func (f ysonFormat) records() records { return &ysonRecords{ysonFormat: f} }

type ysonRecords struct {
	ysonFormat
	in  *stream.Input
	out *stream.Output
}

func (y *ysonRecords) open(source io.Reader, sink io.Writer) error {
	y.in, y.out = stream.NewInput(source, ysonName), stream.NewOutput(sink)
	return nil
}

func (y *ysonRecords) next() (record, error) {
	more, err := y.in.Next(y.decode)
	if !more || err != nil {
		return nil, err
	}
	return values{y.row}, nil
}

func (y *ysonRecords) fresh() record { return values{y.row} }

func (y *ysonRecords) write(record) error {
	y.out.Data = y.encoder.AppendRow(y.out.Data, y.row)
	return y.out.Written()
}

func (y *ysonRecords) close() error { return y.out.Flush() }
