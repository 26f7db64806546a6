package jobs

import (
	"google.golang.org/protobuf/proto"

	"storebench/images/formats/compiled/rows"
)

// staticFormat uses messages that protoc-gen-go has generated, with fields known at compile time.
type staticFormat struct{ shape }

func newStatic(of shape) staticFormat { return staticFormat{of} }

func (f staticFormat) wide() Work {
	row := &rows.Wide{}
	return countedMessages(row, func(of *messages) (int64, error) {
		zeros, missing := rows.CountZeros(row)
		if missing != "" {
			return 0, of.missing(missing)
		}
		return zeros, nil
	}, zerosMessage)
}

func zerosMessage(sum int64) proto.Message { return rows.Zeros_builder{Zeros: &sum}.Build() }

func (f staticFormat) narrow() Work {
	row := &rows.Narrow{}
	return countedMessages(row, func(of *messages) (int64, error) {
		if !row.HasNumber() || !row.HasText() {
			return 0, of.missing("number or text")
		}
		return significant(row.GetNumber()) + int64(len(row.GetText())), nil
	}, func(sum int64) proto.Message { return rows.Length_builder{Length: &sum}.Build() })
}

func (f staticFormat) modify() Work {
	row := &rows.Middle{}
	return mappedMessages(row, func(of *messages) error {
		if !row.HasQty() {
			return of.missing("qty")
		}
		row.SetQty(row.GetQty() + 1)
		return nil
	})
}

// extend reads a row of the old table as a row of the new table. That is valid because the field's number is independent of its position.
func (f staticFormat) extend() Work {
	row := &rows.Extended{}
	return mappedMessages(row, func(of *messages) error {
		if !row.HasQty() {
			return of.missing("qty")
		}
		row.SetNextQty(row.GetQty() + 1)
		return nil
	})
}

func (f staticFormat) complex() Work {
	row := &rows.Complex{}
	var made []float64
	return mappedMessages(row, func(*messages) error {
		made = incremented(made[:0], row.GetScores())
		row.SetScores(made)
		return nil
	})
}

func (f staticFormat) write(first, stop int64) Work {
	row := &rows.Middle{}
	return writtenMessages(first, stop, func(number int64) proto.Message {
		row.SetId(number)
		row.SetUserId(written.userID)
		row.SetPrice(written.price)
		row.SetQty(written.qty)
		row.SetFlag(written.flag)
		row.SetName(written.name)
		row.SetCity(written.city)
		row.SetEmail(written.email)
		row.SetTs(written.ts)
		row.SetNote(written.note)
		return row
	})
}

func (f staticFormat) records() records {
	row, made := f.messages()
	return newMessageRecords(f.shape, row, made)
}

func (f staticFormat) sample() ([]byte, error) {
	row, _ := f.messages()
	return sampleOf(row.ProtoReflect())
}

// messages returns an input row and an output row.
func (f staticFormat) messages() (row, made proto.Message) {
	switch f.benchmark {
	case "wide":
		return &rows.Wide{}, &rows.Zeros{}
	case "narrow":
		return &rows.Narrow{}, &rows.Length{}
	case "extend":
		return &rows.Extended{}, &rows.Extended{}
	case "complex":
		return &rows.Complex{}, &rows.Complex{}
	}
	return &rows.Middle{}, &rows.Middle{}
}
