// Package jobs implements the study's jobs: a format and a benchmark, run directly or through the common interface.
package jobs

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"storebench/images/formats/compiled/table"
)

// Job describes a job.
type Job struct {
	Benchmark   string
	First, Stop int64 // the range of numbers of the written rows, or of bytes for null
	Position    string
	Interface   string
	Access      string
}

// Work runs a prepared job: it reads its input to the end, and writes its output.
type Work func(source io.Reader, sink io.Writer) error

// format builds the jobs of a format. Building a job includes all preparation that needs no row.
type format interface {
	sample() ([]byte, error) // an input table of one row
	wide() Work
	narrow() Work
	modify() Work
	extend() Work
	complex() Work
	write(first, stop int64) Work
	records() records // for the common interface
}

var (
	formats    = []string{"yson", "skiff", "protobuf_static", "protobuf_dynamic", "arrow"}
	benchmarks = []string{"wide", "narrow", "modify", "extend", "complex", "write"}
	positions  = []string{"end", "middle"}
	interfaces = []string{"direct", "common"}
	accesses   = []string{"row", "column"}
)

// Places of columns.
const (
	qty    = 3 // in the tables of modify and extend
	scores = 1 // in the table of complex
	number = 0 // in the table of narrow
	text   = 1
)

// written is what a row that is only written has, beside its number: the same in each row, known before.
var written = struct {
	userID                  uint64
	price                   float64
	qty                     int64
	flag                    bool
	name, city, email, note []byte
	ts                      uint64
}{
	910_111_213_141, 12.375, 42, true, []byte("a name"), []byte("Orléans"), []byte("user@example.com"), []byte("predefined"),
	1_700_000_000,
}

// shape describes a benchmark to a format: its tables, and the index of extend's new column in the output table.
type shape struct {
	benchmark     string
	input, output table.Table
	added         int // -1 if the benchmark adds no column
	end           bool
}

// New prepares a job. It returns an error for an unknown or meaningless option.
func New(name string, job Job) (Work, error) {
	for _, one := range []struct {
		what, asked string
		known       []string
	}{
		{"benchmark", job.Benchmark, benchmarks},
		{"position", job.Position, positions},
		{"interface", job.Interface, interfaces},
		{"access", job.Access, accesses},
		{"format", name, append(slices.Clone(formats), "null")},
	} {
		if !slices.Contains(one.known, one.asked) {
			return nil, fmt.Errorf("Unknown %s %q: one of %s", one.what, one.asked, strings.Join(one.known, ", "))
		}
	}
	if job.Position != "end" && job.Benchmark != "extend" {
		return nil, fmt.Errorf("position=%s: the benchmark %q adds no column, only \"extend\" does", job.Position, job.Benchmark)
	}
	if job.Access != "row" && (name != "arrow" || job.Interface != "direct") {
		return nil, fmt.Errorf("access=%s: only a job of arrow that is driven directly has columns", job.Access)
	}
	if name == "null" {
		if job.Position != "end" || job.Interface != "direct" {
			return nil, fmt.Errorf("null decodes nothing: it has no columns and no interface")
		}
		return floor(job.Stop - job.First), nil
	}
	format, err := formatOf(name, shapeOf(job), job.Access)
	if err != nil {
		return nil, err
	}
	made := func(job Job) Work {
		if name == "arrow" {
			return located(workOf(format, job))
		}
		return workOf(format, job)
	}
	table, err := format.sample()
	if err == nil {
		err = rehearse(made, job, table)
	}
	if err != nil {
		return nil, fmt.Errorf("the rehearsal has failed: %w", err)
	}
	return made(job), nil
}

// rehearse runs the job with a table of one row. Libraries initialize types at their first use, which takes about 15 ms for Protobuf's
// generated messages with 1,000 fields. The initialization must end before the job's clock starts.
func rehearse(made func(job Job) Work, job Job, table []byte) error {
	job.First, job.Stop = 0, 1
	return made(job)(bytes.NewReader(table), io.Discard)
}

func workOf(format format, job Job) Work {
	if job.Interface == "common" {
		return common(job, format.records())
	}
	switch job.Benchmark {
	case "wide":
		return format.wide()
	case "narrow":
		return format.narrow()
	case "modify":
		return format.modify()
	case "extend":
		return format.extend()
	case "complex":
		return format.complex()
	}
	return format.write(job.First, job.Stop)
}

func formatOf(name string, shape shape, access string) (format, error) {
	switch name {
	case "yson":
		return newYson(shape), nil
	case "skiff":
		return newSkiff(shape), nil
	case "protobuf_static":
		return newStatic(shape), nil
	case "protobuf_dynamic":
		return newDynamic(shape)
	}
	if access == "row" {
		return arrowRows{newArrow(shape)}, nil
	}
	return newArrow(shape), nil
}

func shapeOf(job Job) shape {
	switch job.Benchmark {
	case "wide":
		return shape{job.Benchmark, table.Wide, table.Zeros, -1, true}
	case "narrow":
		return shape{job.Benchmark, table.Narrow, table.Length, -1, true}
	case "complex":
		return shape{job.Benchmark, table.Complex, table.Complex, -1, true}
	case "extend":
		place := len(table.Middle)
		if job.Position == "middle" {
			place /= 2
		}
		return shape{job.Benchmark, table.Middle, table.Middle.With(place, table.Added), place, job.Position == "end"}
	}
	return shape{job.Benchmark, table.Middle, table.Middle, -1, true}
}

// places returns the index of each input column in an output row.
func (s shape) places() []int {
	places := make([]int, len(s.input))
	for number := range places {
		places[number] = number
		if s.added >= 0 && number >= s.added {
			places[number]++
		}
	}
	return places
}

// row returns a decoded row of the output table or the input table, whichever has more columns.
func (s shape) row() *table.Row {
	if len(s.output) < len(s.input) {
		return table.NewRow(s.input)
	}
	return table.NewRow(s.output)
}

// significant returns the number of bytes that a number needs.
func significant(number uint64) int64 { return int64(bits.Len64(number)+7) / 8 }

// isZero returns whether a numeric column's value is 0. A float or double may be -0.
func isZero(kind table.Kind, bits uint64) bool {
	return bits == 0 || kind.Real() && bits<<1 == 0
}

// floor returns the job of null: it reads its input to the end, and writes `size` bytes. It writes while it reads, like a job that maps rows,
// and decodes nothing.
func floor(size int64) Work {
	const pieceBytes = 64 << 10 // the capacity of a pipe
	return func(source io.Reader, sink io.Writer) error {
		piece, left, ended := make([]byte, pieceBytes), size, false
		for !ended || left > 0 {
			written := int64(pieceBytes)
			if !ended {
				read, err := source.Read(piece)
				if ended = err == io.EOF; err != nil && !ended {
					return err
				}
				written = int64(read)
			}
			if written = min(written, left); written == 0 {
				continue
			}
			if _, err := sink.Write(piece[:written]); err != nil {
				return err
			}
			left -= written
		}
		return nil
	}
}
