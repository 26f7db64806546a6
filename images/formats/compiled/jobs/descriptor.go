package jobs

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"storebench/images/formats/compiled/table"
)

const protobufPackage = "storebench.map_formats"

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

// The messages within a row, as tables.
var (
	point = table.Table{{Name: "x", Kind: table.Int64}, {Name: "y", Kind: table.String}}
	mark  = table.Table{{Name: "name", Kind: table.String}, {Name: "number", Kind: table.Int64}}
)

// messageType builds the type of a table's rows from a descriptor. An added column is the last field.
func messageType(of table.Table) (protoreflect.MessageType, error) {
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name:        proto.String("rows.proto"),
		Package:     proto.String(protobufPackage),
		MessageType: []*descriptorpb.DescriptorProto{message("Row", of), message("Point", point), message("Mark", mark)},
	}, new(protoregistry.Files))
	if err != nil {
		return nil, err
	}
	return dynamicpb.NewMessageType(file.Messages().ByName("Row")), nil
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
			field.TypeName = proto.String("." + protobufPackage + ".Point")
		case table.Marks:
			field.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
			field.TypeName = proto.String("." + protobufPackage + ".Mark")
		}
		made.Field = append(made.Field, field)
	}
	return made
}
