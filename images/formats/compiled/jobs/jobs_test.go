package jobs

import (
	"io"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"storebench/images/formats/compiled/rows"
	"storebench/images/formats/compiled/table"
)

func TestTheDescriptorThatIsMadeIsTheGeneratedOne(t *testing.T) {
	for _, one := range []struct {
		of        table.Table
		generated proto.Message
	}{
		{table.Wide, &rows.Wide{}}, {table.Narrow, &rows.Narrow{}}, {table.Middle, &rows.Middle{}}, {table.Complex, &rows.Complex{}},
		{table.Middle.With(len(table.Middle), added), &rows.Extended{}}, {table.Zeros, &rows.Zeros{}}, {table.Length, &rows.Length{}},
	} {
		made, err := messageType(one.of)
		if err != nil {
			t.Fatal(err)
		}
		wanted := protodesc.ToDescriptorProto(one.generated.ProtoReflect().Descriptor())
		found := protodesc.ToDescriptorProto(made.Descriptor())
		found.Name = wanted.Name
		if !proto.Equal(found, wanted) {
			t.Errorf("%s differs", wanted.GetName())
		}
	}
}

func TestAMessageWithoutAColumnOrWithAnotherOneIsAnErrorWithItsOffset(t *testing.T) {
	whole, _ := appendMessage(nil, rows.Narrow_builder{Number: proto.Uint64(5), Text: []byte("ab")}.Build())
	without, _ := appendMessage(nil, rows.Narrow_builder{Number: proto.Uint64(5)}.Build())
	other, _ := appendMessage(nil, rows.Complex_builder{Note: []byte("x")}.Build())
	for _, name := range []string{"protobuf_static", "protobuf_dynamic"} {
		for _, way := range interfaces {
			for _, data := range [][]byte{without, other} {
				work, err := New(name, Job{Benchmark: "narrow", Position: "end", Interface: way})
				if err != nil {
					t.Fatal(err)
				}
				err = work(strings.NewReader(string(whole)+string(data)), io.Discard)
				if err == nil || !strings.HasPrefix(err.Error(), "Protobuf, byte 10: ") {
					t.Errorf("%s %s: %v", name, way, err)
				}
			}
		}
	}
}
