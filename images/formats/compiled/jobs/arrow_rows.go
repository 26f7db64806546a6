package jobs

import (
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"storebench/images/formats/compiled/table"
)

// arrowRows works row by row like other formats: it decodes all columns of a row, and appends the output row to new columns.
type arrowRows struct{ arrowFormat }

func (f arrowRows) mapped(change func(row *table.Row)) Work {
	return func(source io.Reader, sink io.Writer) error {
		rows := f.rows()
		if err := rows.open(source, sink); err != nil {
			return err
		}
		for {
			more, err := rows.read()
			if err != nil {
				return err
			}
			if !more {
				return rows.close()
			}
			change(rows.row)
			if err := rows.append(); err != nil {
				return err
			}
		}
	}
}

func (f arrowRows) counted(count func(row *table.Row) int64) Work {
	return func(source io.Reader, sink io.Writer) error {
		rows, sum := f.rows(), int64(0)
		if err := rows.open(source, sink); err != nil {
			return err
		}
		for {
			more, err := rows.read()
			if err != nil {
				return err
			}
			if !more {
				break
			}
			sum += count(rows.row)
		}
		rows.row.Numbers[0] = uint64(sum)
		if err := rows.append(); err != nil {
			return err
		}
		return rows.close()
	}
}

func (f arrowRows) wide() Work { return f.counted(f.zeros) }

func (f arrowRows) narrow() Work { return f.counted(length) }

func (f arrowRows) modify() Work {
	return f.mapped(func(row *table.Row) { row.Numbers[qty]++ })
}

func (f arrowRows) extend() Work {
	return f.mapped(func(row *table.Row) { row.Numbers[f.added] = row.Numbers[qty] + 1 })
}

func (f arrowRows) complex() Work {
	var made []float64
	return f.mapped(func(row *table.Row) {
		made = incremented(made[:0], row.Lists[scores])
		row.Lists[scores] = append(row.Lists[scores][:0], made...)
	})
}

// rows returns a job's rows, decoded and assembled one by one.
func (f arrowFormat) rows() *arrowRecords { return &arrowRecords{arrowFormat: f, row: f.row()} }

// arrowRecords reads and writes the rows of batches: all columns are decoded, and the output has no dictionaries.
type arrowRecords struct {
	arrowFormat
	in    *arrowInput
	out   *arrowOutput
	row   *table.Row
	fill  []func(row int) // for each column of the batch: puts its value into the decoded row
	at    int             // index of the next row in the batch
	left  int             // number of rows of the batch
	built *array.RecordBuilder
	put   []func() // for each output column: appends its value in the decoded row
	count int64    // number of appended rows
}

func (a *arrowRecords) open(source io.Reader, sink io.Writer) (err error) {
	a.out, a.built = newArrowOutput(sink, a.made), array.NewRecordBuilder(memory.DefaultAllocator, a.made)
	for place, column := range a.output {
		a.put = append(a.put, a.appender(place, column.Kind, a.built.Field(place)))
	}
	if a.benchmark != "write" {
		a.in, err = openArrow(source, a.input)
	}
	return err
}

func (a *arrowRecords) next() (record, error) {
	more, err := a.read()
	if !more {
		return nil, err
	}
	return values{a.row}, nil
}

// read decodes the next row. It returns false at the end.
func (a *arrowRecords) read() (bool, error) {
	for a.left == 0 {
		batch, err := a.in.next()
		if batch == nil || err != nil {
			return false, err
		}
		a.fill = a.fill[:0]
		for number, place := range a.places() {
			a.fill = append(a.fill, a.filler(place, a.input[number].Kind, batch.Column(number)))
		}
		a.at, a.left = 0, int(batch.NumRows())
	}
	for _, fill := range a.fill {
		fill(a.at)
	}
	a.at++
	a.left--
	return true, nil
}

func (a *arrowRecords) filler(place int, kind table.Kind, column arrow.Array) func(row int) {
	to := a.row
	switch kind {
	case table.String, table.OptionalString:
		value := textOf(column)
		return func(row int) { to.Texts[place] = value(row) }
	case table.DoubleList:
		lists := column.(*array.List)
		found := lists.ListValues().(*array.Float64).Float64Values()
		return func(row int) {
			from, end := lists.ValueOffsets(row)
			to.Lists[place] = append(to.Lists[place][:0], found[from:end]...)
		}
	case table.Point:
		of := column.(*array.Struct)
		x, y := numberOf(of.Field(0)), textOf(of.Field(1))
		return func(row int) { to.Numbers[place], to.Texts[place] = x(row), y(row) }
	case table.Marks:
		of := column.(*array.Map)
		name, number := textOf(of.Keys()), numberOf(of.Items())
		return func(row int) {
			from, end := of.ValueOffsets(row)
			to.Marks[place] = to.Marks[place][:0]
			for entry := int(from); entry < int(end); entry++ {
				to.Marks[place] = append(to.Marks[place], table.Mark{Name: name(entry), Number: int64(number(entry))})
			}
		}
	}
	value := numberOf(column)
	return func(row int) { to.Numbers[place] = value(row) }
}

func (a *arrowRecords) appender(place int, kind table.Kind, builder array.Builder) func() {
	from := a.row
	switch to := builder.(type) {
	case *array.Int64Builder:
		return func() { to.Append(int64(from.Numbers[place])) }
	case *array.Uint64Builder:
		return func() { to.Append(from.Numbers[place]) }
	case *array.Float64Builder:
		return func() { to.Append(math.Float64frombits(from.Numbers[place])) }
	case *array.BooleanBuilder:
		return func() { to.Append(from.Numbers[place] != 0) }
	case *array.BinaryBuilder:
		return func() {
			if from.Texts[place] == nil && kind == table.OptionalString {
				to.AppendNull()
			} else {
				to.Append(from.Texts[place])
			}
		}
	case *array.StructBuilder:
		x, y := to.FieldBuilder(0).(*array.Int64Builder), to.FieldBuilder(1).(*array.BinaryBuilder)
		return func() {
			to.Append(true)
			x.Append(int64(from.Numbers[place]))
			y.Append(from.Texts[place])
		}
	case *array.MapBuilder:
		names, numbers := to.KeyBuilder().(*array.BinaryBuilder), to.ItemBuilder().(*array.Int64Builder)
		return func() {
			to.Append(true)
			for _, mark := range from.Marks[place] {
				names.Append(mark.Name)
				numbers.Append(mark.Number)
			}
		}
	case *array.ListBuilder:
		elements := to.ValueBuilder().(*array.Float64Builder)
		return func() {
			to.Append(true)
			elements.AppendValues(from.Lists[place], nil)
		}
	}
	panic("no row that comes out has such a column")
}

func (a *arrowRecords) fresh() record { return values{a.row} }

func (a *arrowRecords) write(record) error { return a.append() }

// append appends the decoded row to the output columns.
func (a *arrowRecords) append() error {
	for _, put := range a.put {
		put()
	}
	if a.count++; a.count < batchRows {
		return nil
	}
	return a.flush()
}

func (a *arrowRecords) flush() error {
	batch := a.built.NewRecordBatch()
	defer batch.Release()
	a.count = 0
	return a.out.write(batch.Columns(), batch.NumRows())
}

func (a *arrowRecords) close() error {
	if a.count > 0 {
		if err := a.flush(); err != nil {
			return err
		}
	}
	return a.out.close()
}
