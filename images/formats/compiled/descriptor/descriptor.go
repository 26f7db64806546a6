// Package descriptor describes the rows of tables as messages of Protobuf.
package descriptor

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"storebench/images/formats/compiled/table"
)

// Name is the name of each file of messages, and Package the package of its messages.
const (
	Name    = "rows.proto"
	Package = "storebench.map_formats"
)

// Message is a message with a field for each column of a table. The field of the first column has the number 1.
type Message struct {
	Name string
	Of   table.Table
}

// parts are the messages within a row.
var parts = []Message{
	{"Point", table.Table{{Name: "x", Kind: table.Int64}, {Name: "y", Kind: table.String}}},
	{"Mark", table.Table{{Name: "name", Kind: table.String}, {Name: "number", Kind: table.Int64}}},
}

// fieldTypes maps kinds of columns to Protobuf's types. Protobuf has no integers of 8 and 16 bits.
var fieldTypes = map[table.Kind]descriptorpb.FieldDescriptorProto_Type{
	table.Int8:           descriptorpb.FieldDescriptorProto_TYPE_INT32,
	table.Int16:          descriptorpb.FieldDescriptorProto_TYPE_INT32,
	table.Int32:          descriptorpb.FieldDescriptorProto_TYPE_INT32,
	table.Int64:          descriptorpb.FieldDescriptorProto_TYPE_INT64,
	table.Uint8:          descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	table.Uint16:         descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	table.Uint32:         descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	table.Uint64:         descriptorpb.FieldDescriptorProto_TYPE_UINT64,
	table.Float:          descriptorpb.FieldDescriptorProto_TYPE_FLOAT,
	table.Double:         descriptorpb.FieldDescriptorProto_TYPE_DOUBLE,
	table.Boolean:        descriptorpb.FieldDescriptorProto_TYPE_BOOL,
	table.String:         descriptorpb.FieldDescriptorProto_TYPE_BYTES,
	table.OptionalString: descriptorpb.FieldDescriptorProto_TYPE_BYTES,
	table.DoubleList:     descriptorpb.FieldDescriptorProto_TYPE_DOUBLE,
	table.Point:          descriptorpb.FieldDescriptorProto_TYPE_MESSAGE,
	table.Marks:          descriptorpb.FieldDescriptorProto_TYPE_MESSAGE,
}

// File describes the messages in a file of the syntax proto2, after the messages within a row.
func File(messages ...Message) *descriptorpb.FileDescriptorProto {
	made := &descriptorpb.FileDescriptorProto{Name: proto.String(Name), Package: proto.String(Package)}
	for _, one := range slices.Concat(parts, messages) {
		made.MessageType = append(made.MessageType, message(one.Name, one.Of))
	}
	return made
}

func message(name string, of table.Table) *descriptorpb.DescriptorProto {
	made := &descriptorpb.DescriptorProto{Name: proto.String(name)}
	for place, column := range of {
		field := &descriptorpb.FieldDescriptorProto{
			Name:   proto.String(column.Name),
			Number: proto.Int32(int32(place + 1)),
			Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type:   fieldTypes[column.Kind].Enum(),
		}
		switch column.Kind {
		case table.DoubleList:
			field.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
			field.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(true)}
		case table.Point:
			field.TypeName = proto.String("." + Package + ".Point")
		case table.Marks:
			field.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
			field.TypeName = proto.String("." + Package + ".Mark")
		}
		made.Field = append(made.Field, field)
	}
	return made
}
