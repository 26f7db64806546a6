package jobs

import (
	"io"

	"storebench/images/formats/compiled/skiff"
	"storebench/images/formats/compiled/stream"
	"storebench/images/formats/compiled/table"
)

const skiffName = "Skiff"

type skiffFormat struct {
	shape
	read, made *skiff.Schema
}

func newSkiff(of shape) skiffFormat {
	return skiffFormat{of, skiff.NewSchema(of.input), skiff.NewSchema(of.output)}
}

func (f skiffFormat) sample() ([]byte, error) {
	return f.read.AppendRow(nil, table.NewRow(f.input)), nil
}

// rows calls `each` for each input row. The calls append to the output.
func (f skiffFormat) rows(source io.Reader, sink io.Writer, each func(row *skiff.Row, out *stream.Output) error) (*stream.Output, error) {
	in, out, row := stream.NewInput(source, skiffName), stream.NewOutput(sink), skiff.NewRow(f.read)
	for {
		more, err := in.Next(row.Scan)
		if !more || err != nil {
			return out, err
		}
		if err := each(row, out); err != nil {
			return out, err
		}
	}
}

// mapped returns a job that writes a row for each row that it reads.
func (f skiffFormat) mapped(each func(row *skiff.Row, to []byte) []byte) Work {
	return func(source io.Reader, sink io.Writer) error {
		out, err := f.rows(source, sink, func(row *skiff.Row, out *stream.Output) error {
			out.Data = each(row, out.Data)
			return out.Written()
		})
		if err != nil {
			return err
		}
		return out.Flush()
	}
}

// counted returns a job that writes one number: the sum of its counts of all rows.
func (f skiffFormat) counted(each func(row *skiff.Row) (int64, error)) Work {
	return func(source io.Reader, sink io.Writer) error {
		sum := int64(0)
		out, err := f.rows(source, sink, func(row *skiff.Row, _ *stream.Output) error {
			count, err := each(row)
			sum += count
			return err
		})
		if err != nil {
			return err
		}
		out.Data = skiff.AppendBits(skiff.AppendTable(out.Data), uint64(sum))
		return out.Flush()
	}
}

func (f skiffFormat) wide() Work {
	return f.counted(func(row *skiff.Row) (zeros int64, err error) {
		for column := range f.input {
			var bits uint64
			kind := f.input[column].Kind
			if kind.Real() {
				bits = row.Bits(column)
			} else if bits, err = row.Integer(column); err != nil {
				return 0, err
			}
			if isZero(kind, bits) {
				zeros++
			}
		}
		return zeros, nil
	})
}

func (f skiffFormat) narrow() Work {
	return f.counted(func(row *skiff.Row) (int64, error) {
		return significant(row.Bits(number)) + int64(len(row.Text(text))), nil
	})
}

func (f skiffFormat) modify() Work {
	return f.mapped(func(row *skiff.Row, to []byte) []byte {
		row.SetBits(qty, row.Bits(qty)+1)
		return row.AppendTo(to)
	})
}

func (f skiffFormat) extend() Work {
	return f.mapped(func(row *skiff.Row, to []byte) []byte {
		f.add(row, row.Bits(qty)+1)
		return row.AppendTo(to)
	})
}

// add adds extend's new column to a row.
func (f skiffFormat) add(row *skiff.Row, bits uint64) {
	if f.end {
		row.Append(bits)
	} else {
		row.Insert(f.added, bits)
	}
}

func (f skiffFormat) complex() Work {
	var found, made []float64
	return f.mapped(func(row *skiff.Row, to []byte) []byte {
		found = row.Doubles(scores, found[:0])
		made = incremented(made[:0], found)
		return row.AppendWithDoubles(to, scores, made)
	})
}

func (f skiffFormat) write(first, stop int64) Work {
	row := table.NewRow(f.output)
	return func(_ io.Reader, sink io.Writer) error {
		out := stream.NewOutput(sink)
		for number := first; number < stop; number++ {
			fillWritten(row, number)
			out.Data = f.made.AppendRow(out.Data, row)
			if err := out.Written(); err != nil {
				return err
			}
		}
		return out.Flush()
	}
}

func (f skiffFormat) records() records {
	return &skiffRecords{skiffFormat: f, row: skiffRecord{Row: skiff.NewRow(f.read)}, filled: values{table.NewRow(f.output)}}
}

type skiffRecords struct {
	skiffFormat
	in     *stream.Input
	out    *stream.Output
	row    skiffRecord
	filled values
}

// skiffRecord is a row in its encoded form.
type skiffRecord struct {
	*skiff.Row
	of      *skiffRecords
	list    []float64
	pending bool // `list` replaces the list in the encoded row
	wrong   error
}

func (r *skiffRecord) place(column int) int {
	if r.of.added >= 0 && column > r.of.added {
		return column - 1
	}
	return column
}

func (r *skiffRecord) number(column int) uint64 {
	column = r.place(column)
	kind := r.of.input[column].Kind
	if kind.Real() || kind == table.Boolean {
		return r.Bits(column)
	}
	bits, err := r.Integer(column)
	if err != nil && r.wrong == nil {
		r.wrong = err
	}
	return bits
}

func (r *skiffRecord) text(column int) []byte { return r.Text(r.place(column)) }

func (r *skiffRecord) doubles(column int) []float64 {
	r.list = r.Doubles(column, r.list[:0])
	return r.list
}

func (r *skiffRecord) setNumber(column int, bits uint64) {
	if column == r.of.added {
		r.of.add(r.Row, bits)
	} else {
		r.SetBits(r.place(column), bits)
	}
}

// setText panics: no benchmark changes a string of a row that was read.
func (r *skiffRecord) setText(int, []byte) { panic("a string of a row in Skiff cannot be changed") }

func (r *skiffRecord) setDoubles(_ int, values []float64) {
	r.list, r.pending = append(r.list[:0], values...), true
}

func (s *skiffRecords) open(source io.Reader, sink io.Writer) error {
	s.in, s.out, s.row.of = stream.NewInput(source, skiffName), stream.NewOutput(sink), s
	return nil
}

func (s *skiffRecords) next() (record, error) {
	if s.row.wrong != nil {
		return nil, s.row.wrong
	}
	more, err := s.in.Next(s.row.Scan)
	if !more || err != nil {
		return nil, err
	}
	s.row.pending = false
	return &s.row, nil
}

func (s *skiffRecords) fresh() record { return s.filled }

func (s *skiffRecords) write(row record) error {
	switch {
	case row != record(&s.row):
		s.out.Data = s.made.AppendRow(s.out.Data, s.filled.Row)
	case s.row.wrong != nil:
		return s.row.wrong
	case s.row.pending:
		s.out.Data = s.row.AppendWithDoubles(s.out.Data, scores, s.row.list)
	default:
		s.out.Data = s.row.AppendTo(s.out.Data)
	}
	return s.out.Written()
}

func (s *skiffRecords) close() error { return s.out.Flush() }
