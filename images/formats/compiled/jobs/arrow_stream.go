package jobs

import (
	"bufio"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"storebench/images/formats/compiled/stream"
	"storebench/images/formats/compiled/table"
)

const (
	arrowName = "Arrow"
	arrowEnd  = "\xff\xff\xff\xff\x00\x00\x00\x00" // the end of a complete stream
	ioBytes   = 64 << 10                           // the capacity of a pipe
)

// arrowInput reads batches. Its errors tell the offset in the stream.
type arrowInput struct {
	table  table.Table
	source *followed
	reader *ipc.Reader
}

// followed tracks the number of bytes read from a stream, and the last bytes.
type followed struct {
	source io.Reader
	read   int64
	last   []byte
}

func (f *followed) Read(to []byte) (int, error) {
	size, err := f.source.Read(to)
	f.read += int64(size)
	f.last = append(f.last, to[max(0, size-len(arrowEnd)):size]...)
	f.last = append(f.last[:0], f.last[max(0, len(f.last)-len(arrowEnd)):]...)
	return size, err
}

// located wraps work so that openArrow knows the offset in the stream. It turns the library's panics about offsets or indices outside of their
// buffers into errors.
func located(work Work) Work {
	return func(source io.Reader, sink io.Writer) (err error) {
		in := &followed{source: bufio.NewReaderSize(source, ioBytes)}
		defer func() {
			if found := recover(); found != nil {
				err = &stream.Error{Format: arrowName, Offset: in.read, What: fmt.Sprint(found)}
			}
		}()
		return work(in, sink)
	}
}

// openArrow begins to read. `source` comes from located.
func openArrow(source io.Reader, of table.Table) (*arrowInput, error) {
	in := &arrowInput{table: of, source: source.(*followed)}
	var err error
	if in.reader, err = ipc.NewReader(in.source); err != nil {
		return nil, in.wrong(err.Error())
	}
	fields := in.reader.Schema().Fields()
	if len(fields) != len(of) {
		return nil, in.wrong(fmt.Sprintf("the stream has %d columns, and its table has %d", len(fields), len(of)))
	}
	for place, column := range of {
		found := fields[place].Type
		if dictionary, is := found.(*arrow.DictionaryType); is {
			found = dictionary.ValueType
		}
		if fields[place].Name != column.Name || !arrow.TypeEqual(found, arrowTypes[column.Kind]) {
			return nil, in.wrong(fmt.Sprintf("the column %.40q of the type %s is not the table's column %s", fields[place].Name, found, column.Name))
		}
	}
	return in, nil
}

func (in *arrowInput) wrong(what string) error {
	return &stream.Error{Format: arrowName, Offset: in.source.read, What: what}
}

// next returns the next batch, or nil at the end. A batch is valid until the following call.
func (in *arrowInput) next() (arrow.RecordBatch, error) {
	if !in.reader.Next() {
		if err := in.reader.Err(); err != nil {
			return nil, in.wrong(err.Error())
		}
		if string(in.source.last) != arrowEnd {
			return nil, in.wrong("the stream is cut short: it has no end")
		}
		return nil, nil
	}
	batch := in.reader.RecordBatch()
	if err := array.ValidateRecord(batch); err != nil {
		return nil, in.wrong(err.Error())
	}
	for place, column := range batch.Columns() {
		missing := column.NullN()
		if dictionary, is := column.(*array.Dictionary); is {
			missing += dictionary.Dictionary().NullN()
		}
		if missing > 0 && in.table[place].Kind != table.OptionalString {
			return nil, in.wrong(fmt.Sprintf("%d values of the column %s are missing", missing, in.table[place].Name))
		}
	}
	return batch, nil
}

// arrowOutput writes batches.
type arrowOutput struct {
	buffer *bufio.Writer
	writer *ipc.Writer
	schema *arrow.Schema
}

func newArrowOutput(sink io.Writer, schema *arrow.Schema) *arrowOutput {
	buffer := bufio.NewWriterSize(sink, ioBytes)
	return &arrowOutput{buffer, ipc.NewWriter(buffer, ipc.WithSchema(schema)), schema}
}

func (out *arrowOutput) write(columns []arrow.Array, rows int64) error {
	batch := array.NewRecordBatch(out.schema, columns, rows)
	defer batch.Release()
	return out.writer.Write(batch)
}

func (out *arrowOutput) close() error {
	if err := out.writer.Close(); err != nil {
		return err
	}
	return out.buffer.Flush()
}
