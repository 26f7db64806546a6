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
		{table.Extended, &rows.Extended{}}, {table.Zeros, &rows.Zeros{}}, {table.Length, &rows.Length{}},
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
				work, err := New(name, Job{Benchmark: "narrow", Position: "end", Interface: way, Access: "row"})
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

func TestAJobIsRehearsedWithARowOfItsTable(t *testing.T) {
	for _, name := range formats {
		for _, benchmark := range benchmarks {
			for _, way := range interfaces {
				if _, err := New(name, Job{Benchmark: benchmark, Position: "end", Interface: way, Access: "row"}); err != nil {
					t.Errorf("%s %s %s: %v", name, benchmark, way, err)
				}
			}
		}
	}
}

func TestTheFloorReadsItsInputToTheEndAndWritesAsManyBytesAsItIsTold(t *testing.T) {
	for _, read := range []int{0, 1, 200_000} {
		for _, written := range []int64{0, 10, 200_000, 1_000_000} {
			source, sink := strings.NewReader(strings.Repeat("x", read)), &strings.Builder{}
			work, err := New("null", Job{Benchmark: "wide", First: 5, Stop: 5 + written, Position: "end", Interface: "direct", Access: "row"})
			if err == nil {
				err = work(source, sink)
			}
			if err != nil || source.Len() > 0 || int64(sink.Len()) != written {
				t.Errorf("read %d, write %d: %d left, %d written, %v", read, written, source.Len(), sink.Len(), err)
			}
		}
	}
}
