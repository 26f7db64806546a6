package jobs

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"storebench/images/formats/compiled/descriptor"
	"storebench/images/formats/compiled/table"
)

// dynamicFormat uses message types that are built from a descriptor at run time. It finds fields by the descriptor.
type dynamicFormat struct {
	shape
	row, made protoreflect.Message
}

// newDynamic builds the types of both messages. A row of the old table of extend is also a row of the new table.
func newDynamic(of shape) (dynamicFormat, error) {
	read, made := of.input, of.output
	if of.added >= 0 {
		read, made = table.Extended, table.Extended
	}
	rowType, err := messageType(read)
	if err != nil {
		return dynamicFormat{}, err
	}
	madeType, err := messageType(made)
	if err != nil {
		return dynamicFormat{}, err
	}
	return dynamicFormat{of, rowType.New(), madeType.New()}, nil
}

// messageType makes the type of a table's rows from a descriptor. A column that `extend` adds must be the last column of the table.
func messageType(of table.Table) (protoreflect.MessageType, error) {
	file, err := protodesc.NewFile(descriptor.File(descriptor.Message{Name: "Row", Of: of}), new(protoregistry.Files))
	if err != nil {
		return nil, err
	}
	return dynamicpb.NewMessageType(file.Messages().ByName("Row")), nil
}

func (f dynamicFormat) sample() ([]byte, error) { return sampleOf(f.row.Type().New()) }

func field(of protoreflect.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	return of.Descriptor().Fields().ByName(name)
}

func (f dynamicFormat) one(sum int64) proto.Message {
	f.made.Set(f.made.Descriptor().Fields().Get(0), protoreflect.ValueOfInt64(sum))
	return f.made.Interface()
}

func (f dynamicFormat) wide() Work {
	return countedMessages(f.row.Interface(), func(of *messages) (zeros int64, err error) {
		found := 0
		f.row.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			found++
			if zero(field.Kind(), value) {
				zeros++
			}
			return true
		})
		if found < len(f.input) {
			return 0, of.missing("of some names")
		}
		return zeros, nil
	}, f.one)
}

func zero(kind protoreflect.Kind, value protoreflect.Value) bool {
	switch kind {
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return value.Float() == 0
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return value.Uint() == 0
	}
	return value.Int() == 0
}

func (f dynamicFormat) narrow() Work {
	number, text := field(f.row, "number"), field(f.row, "text")
	return countedMessages(f.row.Interface(), func(of *messages) (int64, error) {
		if !f.row.Has(number) || !f.row.Has(text) {
			return 0, of.missing("number or text")
		}
		return significant(f.row.Get(number).Uint()) + int64(len(f.row.Get(text).Bytes())), nil
	}, f.one)
}

func (f dynamicFormat) modify() Work { return f.incremented("qty") }

func (f dynamicFormat) extend() Work { return f.incremented("next_qty") }

// incremented returns a job that sets a field to the field qty plus 1.
func (f dynamicFormat) incremented(name protoreflect.Name) Work {
	qty, changed := field(f.row, "qty"), field(f.row, name)
	return mappedMessages(f.row.Interface(), func(of *messages) error {
		if !f.row.Has(qty) {
			return of.missing("qty")
		}
		f.row.Set(changed, protoreflect.ValueOfInt64(f.row.Get(qty).Int()+1))
		return nil
	})
}

func (f dynamicFormat) complex() Work {
	scores := field(f.row, "scores")
	return mappedMessages(f.row.Interface(), func(*messages) error {
		list := f.row.Mutable(scores).List()
		length := list.Len()
		for place := range length {
			list.Set(place, protoreflect.ValueOfFloat64(list.Get(place).Float()+1))
		}
		list.Append(protoreflect.ValueOfFloat64(float64(length)))
		return nil
	})
}

func (f dynamicFormat) write(first, stop int64) Work {
	fields := f.made.Descriptor().Fields()
	return writtenMessages(first, stop, func(number int64) proto.Message {
		for place, value := range []protoreflect.Value{
			protoreflect.ValueOfInt64(number),
			protoreflect.ValueOfUint64(written.userID),
			protoreflect.ValueOfFloat64(written.price),
			protoreflect.ValueOfInt64(written.qty),
			protoreflect.ValueOfBool(written.flag),
			protoreflect.ValueOfBytes(written.name),
			protoreflect.ValueOfBytes(written.city),
			protoreflect.ValueOfBytes(written.email),
			protoreflect.ValueOfUint64(written.ts),
			protoreflect.ValueOfBytes(written.note),
		} {
			f.made.Set(fields.Get(place), value)
		}
		return f.made.Interface()
	})
}

func (f dynamicFormat) records() records {
	return newMessageRecords(f.shape, f.row.Interface(), f.made.Interface())
}
