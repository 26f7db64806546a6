package main

import (
	"encoding/hex"
	"errors"
)

// UUID is a UUID of RFC 9562.
type UUID [16]byte

var errUUID = errors.New("not a UUID")

// UnmarshalText reads the usual form, with dashes.
func (u *UUID) UnmarshalText(text []byte) error {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return errUUID
	}
	digits := make([]byte, 0, 32)
	for _, part := range [][2]int{{0, 8}, {9, 13}, {14, 18}, {19, 23}, {24, 36}} {
		digits = append(digits, text[part[0]:part[1]]...)
	}
	if _, err := hex.Decode(u[:], digits); err != nil {
		return errUUID
	}
	return nil
}

// MarshalText writes the usual form, with dashes.
func (u UUID) MarshalText() ([]byte, error) {
	text := make([]byte, 36)
	at := 0
	for index, part := range [][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
		if index > 0 {
			text[at] = '-'
			at++
		}
		at += hex.Encode(text[at:], u[part[0]:part[1]])
	}
	return text, nil
}

func (u UUID) String() string {
	text, _ := u.MarshalText()
	return string(text)
}
