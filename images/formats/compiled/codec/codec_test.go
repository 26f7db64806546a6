package codec

import (
	"bytes"
	"strings"
	"testing"

	"storebench/images/formats/compiled/table"
)

// The bytes that ytsaurus-client writes for these rows.
var written = map[string]string{
	"skiff narrow": "\x00\x00\x12k|\xdf%\x00\x00\x00\x02\x00\x00\x00ab",
	"yson narrow":  "{\x01\x0cnumber=\x06\x92\xd6\xf1\xfb\xdd\x04;\x01\x08text=\x01\x04ab;};",
	"skiff complex": "\x00\x00\x01\x01\x00\x00\x00n\x00\x00\x00\x00\x00\x00\x00\xf0?\xff\xfe\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00" +
		"\x00\x01\x00\x00\x00k\x03\x00\x00\x00\x00\x00\x00\x00\xff\x00\x00\x00\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff",
	"yson complex": "{\x01\x08note=\x01\x02n;\x01\x0cscores=[\x03\x00\x00\x00\x00\x00\x00\xf0?;];\x01\nplace={\x01\x02x=\x02\x03;\x01\x02y=\x01\x00;};" +
		"\x01\nmarks=[[\x01\x02k;\x02\x06;];];};{\x01\x08note=#;\x01\x0cscores=[];\x01\nplace={\x01\x02x=\x02\x00;\x01\x02y=\x01\x00;};\x01\nmarks=[];};",
}

func decoded(t *testing.T, format, of, data string) (string, int, error) {
	codec, err := New(format, Tables[of])
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	rows := 0
	err = codec.Each(strings.NewReader(data), func(row *table.Row) error {
		rows++
		out = codec.Append(out, row)
		return nil
	})
	return string(out), rows, err
}

func TestRowsAreReadAndWrittenAsTheyAre(t *testing.T) {
	for what, data := range written {
		format, of, _ := strings.Cut(what, " ")
		out, rows, err := decoded(t, format, of, data+data)
		if err != nil || out != data+data || rows == 0 {
			t.Errorf("%s: %q, %d rows, %v", what, out, rows, err)
		}
	}
}

func TestAStreamThatIsCutAnywhereIsAnErrorOrWholeRows(t *testing.T) {
	for what, data := range written {
		format, of, _ := strings.Cut(what, " ")
		_, all, _ := decoded(t, format, of, data)
		whole := 0
		for end := range len(data) {
			out, rows, err := decoded(t, format, of, data[:end])
			if err == nil {
				whole++
				if rows >= all && !(format == "yson" && end == len(data)-1) {
					t.Errorf("%s cut at %d: %d rows", what, end, rows)
				}
				if format == "skiff" && out != data[:end] {
					t.Errorf("%s cut at %d: %q", what, end, out)
				}
			} else if !strings.Contains(err.Error(), ": the stream ends within the row that begins here") {
				t.Errorf("%s cut at %d: %v", what, end, err)
			}
		}
		// Between rows; and in YSON the last row needs no semicolon, and no other one before a cut.
		if wanted := map[string]int{"skiff": all, "yson": 2 * all}[format]; whole != wanted {
			t.Errorf("%s: %d cuts are no error, and not %d", what, whole, wanted)
		}
	}
}

func TestWhatIsWrongIsSaidWithItsOffset(t *testing.T) {
	narrow, row := "skiff narrow", written["skiff narrow"]
	for _, one := range []struct{ what, data, says string }{
		{narrow, row + "\x01\x00", "Skiff, byte 16: a row of table 1, and there is one table"},
		{"skiff complex", "\x00\x00\x02", "Skiff, byte 2: the tag 2, where 0 or 1 is known"},
		{"skiff middle", strings.Repeat("\x00", 34) + "\x02", "Skiff, byte 34: the boolean 2"},
		{"skiff wide", "\x00\x00\x80" + strings.Repeat("\x00", 7999), "Skiff, byte 2: 128 does not fit its column"},
		{"yson narrow", "{\x01\x0cnumber=\x02\x02;", "YSON, byte 10: the byte '\\x02', where a uint64 has to be"},
		{"yson narrow", "{\x01\x08text=\x01\x00;};", "YSON, byte 11: the row ends, and has no column number"},
		{"yson narrow", "{\x01\x08text=\x01\x00;\x01\x08text=\x01\x00;};", "YSON, byte 11: the column text is there twice"},
		{"yson narrow", "{\x01\x02z=\x01\x00;};", `YSON, byte 1: the column "z", which the table has not`},
		{"yson narrow", "[", `YSON, byte 0: the byte '[', where a row, which is a map ('{') has to be`},
		{"yson narrow", "{\x01\x01", "YSON, byte 2: the length -1 of a string"},
		{"yson narrow", "{\"text\"=1;};", `YSON, byte 1: the byte '"', where a column's name has to be`},
		{"yson complex", "{\x01\nmarks=[[\x01\x00;];];", "YSON, byte 14: a pair ends, and has not two elements"},
		{"yson wide", "{\x01\x04c0=\x02\x80\x02;", "YSON, byte 6: 128 does not fit its column"},
	} {
		format, of, _ := strings.Cut(one.what, " ")
		if _, _, err := decoded(t, format, of, one.data); err == nil || err.Error() != one.says {
			t.Errorf("%s %q: %v, and not %s", one.what, one.data, err, one.says)
		}
	}
}

func TestYsonMayHaveItsColumnsInAnyOrderAndSpaceBetweenThem(t *testing.T) {
	out, _, err := decoded(t, "yson", "narrow", " { \x01\x08text = \x01\x04ab ; \x01\x0cnumber=\n\x06\x92\xd6\xf1\xfb\xdd\x04 } ; \n")
	if err != nil || out != written["yson narrow"] {
		t.Errorf("%q, %v", out, err)
	}
}

func TestInputsThatAreNearlyRight(t *testing.T) {
	for _, name := range Names {
		mutator, err := NewMutator(name, 1)
		if err == nil {
			err = mutator.Run(50_000)
		}
		if err != nil || mutator.Rows == 0 || mutator.Errors == 0 || mutator.Whole == 0 {
			t.Errorf("%s: %v, %+v", name, err, mutator.Counts)
		}
	}
}

func TestARowThatIsLongerThanTheWindow(t *testing.T) {
	row := table.NewRow(table.Narrow)
	row.Texts[1] = bytes.Repeat([]byte("x"), 3<<20)
	for _, name := range Names {
		codec, _ := New(name, table.Narrow)
		data := codec.Append(codec.Append(nil, row), row)
		if out, rows, err := decoded(t, name, "narrow", string(data)); err != nil || rows != 2 || out != string(data) {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}
