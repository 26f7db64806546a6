package jobs

import (
	"bytes"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"storebench/images/formats/compiled/table"
)

const batchRows = 1000

// arrowFormat computes on whole columns, and copies other columns undecoded. It reads or changes each distinct value of a dictionary once.
type arrowFormat struct {
	shape
	made *arrow.Schema // the output's schema, where the input does not define it
}

func newArrow(of shape) arrowFormat { return arrowFormat{of, schemaOf(of.output)} }

func (f arrowFormat) sample() ([]byte, error) {
	var table bytes.Buffer
	schema := schemaOf(f.input)
	built := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, column := range built.Fields() {
		column.AppendEmptyValue()
	}
	out, batch := newArrowOutput(&table, schema), built.NewRecordBatch()
	if err := out.write(batch.Columns(), batch.NumRows()); err != nil {
		return nil, err
	}
	err := out.close()
	return table.Bytes(), err
}

// mapped returns a job that writes a batch for each batch that it reads, with one column changed or added.
func (f arrowFormat) mapped(schema func(read *arrow.Schema) *arrow.Schema, change func(columns []arrow.Array) []arrow.Array) Work {
	return func(source io.Reader, sink io.Writer) error {
		in, err := openArrow(source, f.input)
		if err != nil {
			return err
		}
		out := newArrowOutput(sink, schema(in.reader.Schema()))
		for {
			batch, err := in.next()
			if err != nil {
				return err
			}
			if batch == nil {
				return out.close()
			}
			if err := out.write(change(append([]arrow.Array(nil), batch.Columns()...)), batch.NumRows()); err != nil {
				return err
			}
		}
	}
}

// counted returns a job that writes one number: the sum of its counts of all batches.
func (f arrowFormat) counted(count func(columns []arrow.Array) int64) Work {
	return func(source io.Reader, sink io.Writer) error {
		in, err := openArrow(source, f.input)
		if err != nil {
			return err
		}
		sum := int64(0)
		for {
			batch, err := in.next()
			if err != nil {
				return err
			}
			if batch == nil {
				break
			}
			sum += count(batch.Columns())
		}
		out := newArrowOutput(sink, f.made)
		if err := out.write([]arrow.Array{integers([]int64{sum})}, 1); err != nil {
			return err
		}
		return out.close()
	}
}

func (f arrowFormat) wide() Work {
	return f.counted(func(columns []arrow.Array) (zeros int64) {
		for _, column := range columns {
			zeros += zerosIn(column)
		}
		return zeros
	})
}

func (f arrowFormat) narrow() Work {
	return f.counted(func(columns []arrow.Array) (length int64) {
		if numbers, plain := columns[number].(*array.Uint64); plain {
			for _, value := range numbers.Uint64Values() {
				length += significant(value)
			}
		} else {
			length += weighed(columns[number], func(values arrow.Array) func(int) int64 {
				value := numberOf(values)
				return func(row int) int64 { return significant(value(row)) }
			})
		}
		if texts, plain := columns[text].(*array.Binary); plain {
			return length + int64(len(texts.ValueBytes()))
		}
		return length + weighed(columns[text], func(values arrow.Array) func(int) int64 {
			value := textOf(values)
			return func(row int) int64 { return int64(len(value(row))) }
		})
	})
}

func (f arrowFormat) modify() Work {
	change := changer(moreByOne)
	return f.mapped(same, func(columns []arrow.Array) []arrow.Array {
		columns[qty] = change(columns[qty])
		return columns
	})
}

func (f arrowFormat) extend() Work {
	change := changer(moreByOne)
	return f.mapped(func(read *arrow.Schema) *arrow.Schema {
		fields := append([]arrow.Field(nil), read.Fields()...)
		field := fields[qty]
		field.Name = table.Added.Name
		return arrow.NewSchema(append(append(fields[:f.added:f.added], field), fields[f.added:]...), nil)
	}, func(columns []arrow.Array) []arrow.Array {
		return append(append(columns[:f.added:f.added], change(columns[qty])), columns[f.added:]...)
	})
}

func (f arrowFormat) complex() Work {
	return f.mapped(same, func(columns []arrow.Array) []arrow.Array {
		lists := columns[scores].(*array.List)
		columns[scores] = incrementedLists(lists)
		return columns
	})
}

func same(read *arrow.Schema) *arrow.Schema { return read }

// incrementedLists returns the lists with each element plus 1, followed by the list's length.
func incrementedLists(lists *array.List) arrow.Array {
	rows, found := lists.Len(), lists.ListValues().(*array.Float64).Float64Values()
	values, ends := make([]float64, 0, len(found)+rows), make([]int32, 1, rows+1)
	for row := range rows {
		from, to := lists.ValueOffsets(row)
		values = incremented(values, found[from:to])
		ends = append(ends, int32(len(values)))
	}
	elements := array.NewData(arrow.PrimitiveTypes.Float64, len(values),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(values))}, nil, 0, 0)
	return array.NewListData(array.NewData(lists.DataType(), rows,
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(ends))}, []arrow.ArrayData{elements}, 0, 0))
}

func (f arrowFormat) write(first, stop int64) Work {
	return func(_ io.Reader, sink io.Writer) error {
		out := newArrowOutput(sink, f.made)
		built := array.NewRecordBuilder(memory.DefaultAllocator, f.made)
		id, userID := built.Field(0).(*array.Int64Builder), built.Field(1).(*array.Uint64Builder)
		price, quantity := built.Field(2).(*array.Float64Builder), built.Field(3).(*array.Int64Builder)
		flag, ts := built.Field(4).(*array.BooleanBuilder), built.Field(8).(*array.Uint64Builder)
		name, city := built.Field(5).(*array.BinaryBuilder), built.Field(6).(*array.BinaryBuilder)
		email, note := built.Field(7).(*array.BinaryBuilder), built.Field(9).(*array.BinaryBuilder)
		for number := first; number < stop; {
			built.Reserve(batchRows)
			for end := min(number+batchRows, stop); number < end; number++ {
				id.Append(number)
				userID.Append(written.userID)
				price.Append(written.price)
				quantity.Append(written.qty)
				flag.Append(written.flag)
				name.Append(written.name)
				city.Append(written.city)
				email.Append(written.email)
				ts.Append(written.ts)
				note.Append(written.note)
			}
			batch := built.NewRecordBatch()
			if err := out.write(batch.Columns(), batch.NumRows()); err != nil {
				return err
			}
			batch.Release()
		}
		return out.close()
	}
}

func (f arrowFormat) records() records { return f.rows() }

// schemaOf returns the schema of a table without dictionaries.
func schemaOf(of table.Table) *arrow.Schema {
	fields := make([]arrow.Field, len(of))
	for place, column := range of {
		fields[place] = arrow.Field{Name: column.Name, Type: arrowTypes[column.Kind], Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

var arrowTypes = map[table.Kind]arrow.DataType{
	table.Int8:           arrow.PrimitiveTypes.Int8,
	table.Int16:          arrow.PrimitiveTypes.Int16,
	table.Int32:          arrow.PrimitiveTypes.Int32,
	table.Int64:          arrow.PrimitiveTypes.Int64,
	table.Uint8:          arrow.PrimitiveTypes.Uint8,
	table.Uint16:         arrow.PrimitiveTypes.Uint16,
	table.Uint32:         arrow.PrimitiveTypes.Uint32,
	table.Uint64:         arrow.PrimitiveTypes.Uint64,
	table.Float:          arrow.PrimitiveTypes.Float32,
	table.Double:         arrow.PrimitiveTypes.Float64,
	table.Boolean:        arrow.FixedWidthTypes.Boolean,
	table.String:         arrow.BinaryTypes.Binary,
	table.OptionalString: arrow.BinaryTypes.Binary,
	table.DoubleList:     arrow.ListOf(arrow.PrimitiveTypes.Float64),
	table.Point: arrow.StructOf(
		arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "y", Type: arrow.BinaryTypes.Binary, Nullable: true},
	),
	table.Marks: arrow.MapOf(arrow.BinaryTypes.Binary, arrow.PrimitiveTypes.Int64),
}
