// Package stream reads rows from a stream through a window, and writes rows through a buffer.
package stream

import (
	"errors"
	"fmt"
	"io"
)

const pieceBytes = 64 << 10 // the capacity of a pipe

// ErrShort is a decoder's error if the window ends within a row.
var ErrShort = errors.New("the row goes on behind the window")

// ErrNothing is a decoder's error if the bytes contain no row.
var ErrNothing = errors.New("no row")

// Error describes invalid data in a stream, and its offset.
type Error struct {
	Format string
	Offset int64 // from the start of the stream, in bytes
	What   string
}

func (e *Error) Error() string { return fmt.Sprintf("%s, byte %d: %s", e.Format, e.Offset, e.What) }

// Input is a window on a stream. A decoded row is valid until the following call of Next.
type Input struct {
	format string
	source io.Reader
	data   []byte
	at     int   // in data: the beginning of undecoded bytes
	base   int64 // the offset of data in the stream
	ended  bool
}

// NewInput begins to read. Errors name the format.
func NewInput(source io.Reader, format string) *Input {
	return &Input{format: format, source: source, data: make([]byte, 0, 4*pieceBytes)}
}

// Reset begins to read another stream, with the same window.
func (in *Input) Reset(source io.Reader) {
	*in = Input{format: in.format, source: source, data: in.data[:0]}
}

// Decoder decodes a row at the start of a window. `offset` is the window's offset in the stream, and `last` tells whether the stream ends with
// the window. It returns the row's size, ErrShort, ErrNothing with a size, or an error about invalid data.
type Decoder func(data []byte, offset int64, last bool) (int, error)

// Next decodes the next row. After ErrShort, it calls the decoder again with a longer window, if the stream continues. It returns false at the
// end of the stream.
func (in *Input) Next(decode Decoder) (bool, error) {
	for wanted := 1; ; {
		if in.at < len(in.data) {
			size, err := decode(in.data[in.at:], in.base+int64(in.at), in.ended)
			switch err {
			case nil:
				in.at += size
				return true, nil
			case ErrNothing:
				in.at += size
				continue
			case ErrShort:
			default:
				return false, err
			}
			if in.ended {
				return false, &Error{in.format, in.base + int64(in.at), "the stream ends within the row that begins here"}
			}
			// Double the window each time, so that a long row is not decoded too often.
			wanted = max(wanted, 2*(len(in.data)-in.at))
		} else if in.ended {
			return false, nil
		}
		if err := in.more(wanted); err != nil {
			return false, err
		}
	}
}

// more extends the window to the wanted length, or up to the end of the stream.
func (in *Input) more(wanted int) error {
	if in.at > 0 {
		in.base += int64(in.at)
		in.data = in.data[:copy(in.data, in.data[in.at:])]
		in.at = 0
	}
	for !in.ended && len(in.data) < wanted {
		if cap(in.data)-len(in.data) < pieceBytes {
			in.data = append(make([]byte, 0, 2*cap(in.data)), in.data...)
		}
		size, err := in.source.Read(in.data[len(in.data):cap(in.data)])
		in.data = in.data[:len(in.data)+size]
		if err == io.EOF {
			in.ended = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Output buffers writes to a stream: callers append rows to Data, and call Written after each row.
type Output struct {
	Data []byte
	sink io.Writer
}

// NewOutput begins to write.
func NewOutput(sink io.Writer) *Output {
	return &Output{Data: make([]byte, 0, 2*pieceBytes), sink: sink}
}

// Written writes the buffer if it is full.
func (out *Output) Written() error {
	if len(out.Data) < pieceBytes {
		return nil
	}
	return out.Flush()
}

// Flush writes the buffer.
func (out *Output) Flush() error {
	_, err := out.sink.Write(out.Data)
	out.Data = out.Data[:0]
	return err
}
