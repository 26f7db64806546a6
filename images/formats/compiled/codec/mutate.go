package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"storebench/images/formats/compiled/stream"
	"storebench/images/formats/compiled/table"
)

// Counts are the results of decoding inputs.
type Counts struct{ Inputs, Rows, Errors, Whole int64 }

// Add adds other counts.
func (c *Counts) Add(other Counts) {
	c.Inputs += other.Inputs
	c.Rows += other.Rows
	c.Errors += other.Errors
	c.Whole += other.Whole
}

// Mutator generates nearly valid inputs, reproducibly from a seed, and checks the result of decoding each input: rows, or an error with an
// offset within the input. Decoded rows that are encoded and decoded again must be equal.
type Mutator struct {
	Counts
	codecs []*Codec
	random *rand.Rand
	data   []byte
}

// NewMutator returns a Mutator of a format. A table with a column of each numeric kind stands for the widest table.
func NewMutator(name string, seed uint64) (*Mutator, error) {
	m := &Mutator{random: rand.New(rand.NewPCG(seed, uint64(len(name))))}
	numbers := append(append(table.Table(nil), table.Wide[:table.Double+1]...), table.Column{Name: "b", Kind: table.Boolean})
	for _, of := range []table.Table{table.Narrow, table.Middle, table.Complex, numbers} {
		codec, err := New(name, of)
		if err != nil {
			return nil, err
		}
		m.codecs = append(m.codecs, codec)
	}
	return m, nil
}

// Run tries this number of inputs. The error names the first input with a wrong result.
func (m *Mutator) Run(inputs int) (err error) {
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("a crash: %v; the input is %q", found, m.data)
		}
	}()
	for range inputs {
		if err := m.try(m.codecs[m.random.IntN(len(m.codecs))]); err != nil {
			return fmt.Errorf("%w; the input is %q", err, m.data)
		}
	}
	return nil
}

func (m *Mutator) try(of *Codec) error {
	m.data = m.data[:0]
	for range 1 + m.random.IntN(3) {
		m.data = of.Append(m.data, RandomRow(m.random, of.Table))
	}
	for range m.random.IntN(4) {
		m.mutate()
	}
	again, first, rows := []byte(nil), []byte(nil), 0
	err := of.Each(m.pieces(m.data), func(row *table.Row) error {
		rows++
		first = of.Append(first, row)
		return nil
	})
	m.Inputs++
	m.Rows += int64(rows)
	if err == nil {
		m.Whole++
	} else {
		m.Errors++
		var wrong *stream.Error
		if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > int64(len(m.data)) {
			return fmt.Errorf("an error without its offset: %w", err)
		}
	}
	err = of.Each(m.pieces(first), func(row *table.Row) error {
		rows--
		again = of.Append(again, row)
		return nil
	})
	if err != nil || rows != 0 || !bytes.Equal(first, again) {
		return fmt.Errorf("rows of %s that do not decode again as they were: %v", of.Name, err)
	}
	return nil
}

// pieces returns a reader that sometimes returns only a few bytes at a time, so that a window ends anywhere in a row.
func (m *Mutator) pieces(data []byte) io.Reader {
	size := len(data)
	if m.random.IntN(8) == 0 {
		size = 1 + m.random.IntN(16)
	}
	return &pieces{data, max(1, size)}
}

type pieces struct {
	data []byte
	size int
}

func (p *pieces) Read(to []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	size := copy(to[:min(p.size, len(to))], p.data)
	p.data = p.data[size:]
	return size, nil
}

// Bytes with a meaning in one of the formats, and bytes next to them.
const telling = "\x00\x01\x02\x03\x04\x05\x06\x7f\x80\xfe\xff#;=[]{}<>% \n"

func (m *Mutator) mutate() {
	if len(m.data) == 0 {
		return
	}
	at := m.random.IntN(len(m.data))
	end := min(len(m.data), at+1+m.random.IntN(12))
	switch m.random.IntN(7) {
	case 0: // flip a bit
		m.data[at] ^= 1 << m.random.IntN(8)
	case 1:
		m.data[at] = telling[m.random.IntN(len(telling))]
	case 2: // cut the end
		m.data = m.data[:at]
	case 3: // remove bytes
		m.data = append(m.data[:at], m.data[end:]...)
	case 4: // repeat bytes
		m.data = append(m.data[:end:end], m.data[at:]...)
	case 5: // insert a byte
		m.data = append(append(m.data[:at:at], telling[m.random.IntN(len(telling))]), m.data[at:]...)
	case 6: // a number at its limits
		for place := at; place < end; place++ {
			m.data[place] = 0xFF * byte(m.random.IntN(2))
		}
	}
}

// RandomRow returns a random row of a table.
func RandomRow(random *rand.Rand, of table.Table) *table.Row {
	row := table.NewRow(of)
	for place, column := range of {
		switch kind := column.Kind; {
		case kind.Signed():
			row.Numbers[place] = uint64(int64(random.Uint64()) >> (64 - 8<<kind) >> random.IntN(8<<kind))
		case kind.Unsigned():
			row.Numbers[place] = random.Uint64() >> (64 - 8<<(kind-table.Uint8)) >> random.IntN(8<<(kind-table.Uint8))
		case kind == table.Float:
			row.Numbers[place] = math.Float64bits(float64(random.Float32()))
		case kind == table.Double:
			row.Numbers[place] = random.Uint64()
		case kind == table.Boolean:
			row.Numbers[place] = random.Uint64() & 1
		case kind == table.String:
			row.Texts[place] = randomText(random)
		case kind == table.OptionalString:
			if random.IntN(3) > 0 {
				row.Texts[place] = randomText(random)
			}
		case kind == table.DoubleList:
			for range random.IntN(4) {
				row.Lists[place] = append(row.Lists[place], random.NormFloat64())
			}
		case kind == table.Point:
			row.Numbers[place], row.Texts[place] = random.Uint64(), randomText(random)
		case kind == table.Marks:
			for range random.IntN(4) {
				row.Marks[place] = append(row.Marks[place], table.Mark{Name: randomText(random), Number: int64(random.Uint64())})
			}
		}
	}
	return row
}

func randomText(random *rand.Rand) []byte {
	found := make([]byte, random.IntN(12))
	for place := range found {
		found[place] = byte(random.Uint32())
	}
	return found
}
