package jobs

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"storebench/images/formats/compiled/stream"
)

const (
	protobufName = "Protobuf"
	lengthBytes  = 4
)

// messages reads messages with a length prefix.
type messages struct {
	in     *stream.Input
	offset int64 // offset of the last row
}

func newMessages(source io.Reader) *messages {
	return &messages{in: stream.NewInput(source, protobufName)}
}

// next reads a message. It returns false at the end.
func (m *messages) next(into proto.Message) (bool, error) {
	return m.in.Next(func(data []byte, offset int64, _ bool) (int, error) {
		m.offset = offset
		if len(data) < lengthBytes {
			return 0, stream.ErrShort
		}
		length := int(binary.LittleEndian.Uint32(data))
		if len(data)-lengthBytes < length {
			return 0, stream.ErrShort
		}
		if err := proto.Unmarshal(data[lengthBytes:lengthBytes+length], into); err != nil {
			return 0, m.wrong(err.Error())
		}
		if len(into.ProtoReflect().GetUnknown()) > 0 {
			return 0, m.wrong("the row that begins here has a field that its table has not")
		}
		return lengthBytes + length, nil
	})
}

func (m *messages) wrong(what string) error {
	return &stream.Error{Format: protobufName, Offset: m.offset, What: what}
}

func (m *messages) missing(column string) error {
	return m.wrong(fmt.Sprintf("the row that begins here has no column %s", column))
}

// appendMessage appends a message with its length prefix.
func appendMessage(to []byte, row proto.Message) ([]byte, error) {
	began := len(to)
	to, err := proto.MarshalOptions{}.MarshalAppend(append(to, 0, 0, 0, 0), row)
	if err == nil {
		binary.LittleEndian.PutUint32(to[began:], uint32(len(to)-began-lengthBytes))
	}
	return to, err
}

// sampleOf returns a table of one row, in which each field is set.
func sampleOf(row protoreflect.Message) ([]byte, error) {
	fill(row)
	return appendMessage(nil, row.Interface())
}

func fill(row protoreflect.Message) {
	for number := range row.Descriptor().Fields().Len() {
		field := row.Descriptor().Fields().Get(number)
		switch {
		case field.IsList() && field.Message() != nil:
			fill(row.Mutable(field).List().AppendMutable().Message())
		case field.IsList():
			list := row.Mutable(field).List()
			list.Append(list.NewElement())
		case field.Message() != nil:
			fill(row.Mutable(field).Message())
		case field.Kind() == protoreflect.BytesKind:
			row.Set(field, protoreflect.ValueOfBytes([]byte{}))
		default:
			row.Set(field, field.Default())
		}
	}
}

// mappedMessages returns a job that reads each message, changes it, and writes it.
func mappedMessages(row proto.Message, change func(of *messages) error) Work {
	return func(source io.Reader, sink io.Writer) error {
		in, out := newMessages(source), stream.NewOutput(sink)
		for {
			more, err := in.next(row)
			if err != nil {
				return err
			}
			if !more {
				return out.Flush()
			}
			if err = change(in); err != nil {
				return err
			}
			if out.Data, err = appendMessage(out.Data, row); err != nil {
				return err
			}
			if err = out.Written(); err != nil {
				return err
			}
		}
	}
}

// countedMessages returns a job that sums the counts of all messages, and writes the message that `put` makes of the sum.
func countedMessages(row proto.Message, count func(of *messages) (int64, error), put func(sum int64) proto.Message) Work {
	return func(source io.Reader, sink io.Writer) error {
		in, sum := newMessages(source), int64(0)
		for {
			more, err := in.next(row)
			if err != nil {
				return err
			}
			if !more {
				break
			}
			counted, err := count(in)
			if err != nil {
				return err
			}
			sum += counted
		}
		data, err := appendMessage(nil, put(sum))
		if err != nil {
			return err
		}
		_, err = sink.Write(data)
		return err
	}
}

// writtenMessages returns a job that only writes: `fill` makes the row with a number.
func writtenMessages(first, stop int64, fill func(number int64) proto.Message) Work {
	return func(_ io.Reader, sink io.Writer) error {
		out := stream.NewOutput(sink)
		for number := first; number < stop; number++ {
			var err error
			if out.Data, err = appendMessage(out.Data, fill(number)); err != nil {
				return err
			}
			if err = out.Written(); err != nil {
				return err
			}
		}
		return out.Flush()
	}
}

// messageRecords implements the common interface for both variants of Protobuf. It finds fields by the message's descriptor.
type messageRecords struct {
	shape
	read, filled messageRecord
	in           *messages
	out          *stream.Output
	wrong        error
}

type messageRecord struct {
	protoreflect.Message
	fields []protoreflect.FieldDescriptor // by column
	of     *messageRecords
	list   []float64
}

func newMessageRecords(of shape, row, made proto.Message) records {
	m := &messageRecords{shape: of}
	m.read, m.filled = m.record(row.ProtoReflect()), m.record(made.ProtoReflect())
	return m
}

func (m *messageRecords) record(message protoreflect.Message) messageRecord {
	return messageRecord{Message: message, fields: m.fieldsOf(message), of: m}
}

// fieldsOf returns a message's fields by column. Numbers of fields are permanent: the added field is the last.
func (m *messageRecords) fieldsOf(message protoreflect.Message) []protoreflect.FieldDescriptor {
	of, found := message.Descriptor().Fields(), []protoreflect.FieldDescriptor(nil)
	for number := range of.Len() {
		found = append(found, of.Get(number))
	}
	if last := len(found) - 1; m.added >= 0 {
		return slices.Insert(found[:last:last], m.added, found[last])
	}
	return found
}

func (m *messageRecords) open(source io.Reader, sink io.Writer) error {
	m.in, m.out = newMessages(source), stream.NewOutput(sink)
	return nil
}

func (m *messageRecords) next() (record, error) {
	if m.wrong != nil {
		return nil, m.wrong
	}
	more, err := m.in.next(m.read.Interface())
	if !more || err != nil {
		return nil, err
	}
	return &m.read, nil
}

func (m *messageRecords) fresh() record { return &m.filled }

func (m *messageRecords) write(row record) (err error) {
	if m.wrong != nil {
		return m.wrong
	}
	if m.out.Data, err = appendMessage(m.out.Data, row.(*messageRecord).Interface()); err != nil {
		return err
	}
	return m.out.Written()
}

func (m *messageRecords) close() error { return m.out.Flush() }

// get returns a field's value, which must be set.
func (r *messageRecord) get(column int) protoreflect.Value {
	field := r.fields[column]
	if !field.IsList() && !r.Has(field) && r.of.wrong == nil {
		r.of.wrong = r.of.in.missing(string(field.Name()))
	}
	return r.Get(field)
}

func (r *messageRecord) number(column int) uint64 {
	value := r.get(column)
	switch r.fields[column].Kind() {
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return uint64(value.Int())
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return value.Uint()
	case protoreflect.BoolKind:
		if value.Bool() {
			return 1
		}
		return 0
	}
	return math.Float64bits(value.Float())
}

func (r *messageRecord) text(column int) []byte { return r.get(column).Bytes() }

func (r *messageRecord) doubles(column int) []float64 {
	r.list = r.list[:0]
	list := r.get(column).List()
	for place := range list.Len() {
		r.list = append(r.list, list.Get(place).Float())
	}
	return r.list
}

func (r *messageRecord) setNumber(column int, bits uint64) {
	field := r.fields[column]
	var value protoreflect.Value
	switch field.Kind() {
	case protoreflect.Int32Kind:
		value = protoreflect.ValueOfInt32(int32(bits))
	case protoreflect.Int64Kind:
		value = protoreflect.ValueOfInt64(int64(bits))
	case protoreflect.Uint32Kind:
		value = protoreflect.ValueOfUint32(uint32(bits))
	case protoreflect.Uint64Kind:
		value = protoreflect.ValueOfUint64(bits)
	case protoreflect.BoolKind:
		value = protoreflect.ValueOfBool(bits != 0)
	case protoreflect.FloatKind:
		value = protoreflect.ValueOfFloat32(float32(math.Float64frombits(bits)))
	default:
		value = protoreflect.ValueOfFloat64(math.Float64frombits(bits))
	}
	r.Set(field, value)
}

func (r *messageRecord) setText(column int, value []byte) {
	r.Set(r.fields[column], protoreflect.ValueOfBytes(value))
}

func (r *messageRecord) setDoubles(column int, values []float64) {
	setDoubles(r.Mutable(r.fields[column]).List(), values)
}

// setDoubles replaces the elements of a list.
func setDoubles(list protoreflect.List, values []float64) {
	list.Truncate(0)
	for _, value := range values {
		list.Append(protoreflect.ValueOfFloat64(value))
	}
}
