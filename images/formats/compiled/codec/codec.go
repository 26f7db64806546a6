// Package codec offers the project's own implementations of Skiff and YSON under one interface, which decodes and encodes whole rows. Tests,
// the fuzzer and the benchmark of both formats use the package; jobs do not.
package codec

import (
	"fmt"
	"io"

	"storebench/images/formats/compiled/skiff"
	"storebench/images/formats/compiled/stream"
	"storebench/images/formats/compiled/table"
	"storebench/images/formats/compiled/yson"
)

// Codec reads and writes the rows of a table.
type Codec struct {
	Name   string
	Table  table.Table
	row    *table.Row
	in     *stream.Input
	decode stream.Decoder
	append func(to []byte, row *table.Row) []byte
}

// Names are the names of the formats.
var Names = []string{"skiff", "yson"}

// Tables are the benchmarks' tables by name.
var Tables = map[string]table.Table{"wide": table.Wide, "narrow": table.Narrow, "middle": table.Middle, "complex": table.Complex}

// New returns the codec of a format for a table.
func New(name string, of table.Table) (*Codec, error) {
	c := &Codec{Table: of, row: table.NewRow(of)}
	switch name {
	case "skiff":
		schema := skiff.NewSchema(of)
		row := skiff.NewRow(schema)
		c.Name, c.append = "Skiff", schema.AppendRow
		c.decode = func(data []byte, offset int64, last bool) (int, error) {
			size, err := row.Scan(data, offset, last)
			if err == nil {
				err = row.Decode(c.row)
			}
			return size, err
		}
	case "yson":
		decoder := yson.NewDecoder(of, yson.SamePlaces(of))
		c.Name, c.append = "YSON", yson.NewEncoder(of, yson.SamePlaces(of)).AppendRow
		c.decode = func(data []byte, offset int64, last bool) (int, error) {
			return decoder.Row(data, offset, last, c.row)
		}
	default:
		return nil, fmt.Errorf("Unknown format %q: skiff or yson", name)
	}
	return c, nil
}

// Each decodes a stream, and calls `each` for each row. A row is valid until its call ends.
func (c *Codec) Each(source io.Reader, each func(row *table.Row) error) error {
	if c.in == nil {
		c.in = stream.NewInput(source, c.Name)
	} else {
		c.in.Reset(source)
	}
	for {
		more, err := c.in.Next(c.decode)
		if !more || err != nil {
			return err
		}
		if err := each(c.row); err != nil {
			return err
		}
	}
}

// Append writes a row after `to`.
func (c *Codec) Append(to []byte, row *table.Row) []byte { return c.append(to, row) }
