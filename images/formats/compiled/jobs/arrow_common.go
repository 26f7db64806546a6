package jobs

import (
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"storebench/images/formats/compiled/table"
)

// arrowRecords has the rows of batches through the common interface: all columns are decoded, and dictionaries are lost.
type arrowRecords struct {
	arrowFormat
	in    *arrowInput
	out   *arrowOutput
	row   *table.Row
	fill  []func(row int) // for each column of the batch: puts its value into the decoded row
	at    int             // of the next row in the batch
	left  int             // rows of the batch
	built *array.RecordBuilder
	put   []func() // for each column that comes out: appends its value in the decoded row
	rows  int64    // that were appended
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
	for a.left == 0 {
		batch, err := a.in.next()
		if batch == nil || err != nil {
			return nil, err
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
	return values{a.row}, nil
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

func (a *arrowRecords) write(record) error {
	for _, put := range a.put {
		put()
	}
	if a.rows++; a.rows < batchRows {
		return nil
	}
	return a.flush()
}

func (a *arrowRecords) flush() error {
	batch := a.built.NewRecordBatch()
	defer batch.Release()
	a.rows = 0
	return a.out.write(batch.Columns(), batch.NumRows())
}

func (a *arrowRecords) close() error {
	if a.rows > 0 {
		if err := a.flush(); err != nil {
			return err
		}
	}
	return a.out.close()
}
