// Package skiff reads and writes Skiff by its public specification, and like ytsaurus-client with 8 bytes for a number of any width.
//
// A row consists of two bytes with the number of its table, and its values. Only the schema, which both sides know, determines the end of a
// row. A number has 8 bytes, a boolean 1 byte, and a string its length in 4 bytes and its bytes. A tag precedes an optional value; 0 means
// missing. The tag 0 precedes each element of a list, and the tag 255 ends the list. A dict is a list of pairs, and a struct consists of its
// fields. All numbers are little-endian.
package skiff

import "storebench/images/formats/compiled/table"

const (
	name      = "Skiff"
	tableSize = 2 // bytes of a row's table number
	lengthOf  = 4 // bytes of a string's length
	end       = 0xFF
)

// A row is a sequence of groups: values of fixed size, followed by one value of variable size. Scan determines only the offsets of the groups;
// values are decoded on demand.
type group struct {
	fixed    int   // bytes of the fixed-size values
	booleans []int // offsets of the booleans among them
	then     table.Kind
	last     bool // no variable-size value follows
}

// place locates a column's value: `delta` bytes after the beginning of a group.
type place struct{ group, delta int }

// Schema describes the rows of a table, as both sides know them.
type Schema struct {
	table  table.Table
	groups []group
	places []place
}

// NewSchema returns the schema of a table.
func NewSchema(of table.Table) *Schema {
	schema := &Schema{table: of, groups: []group{{fixed: tableSize, last: true}}}
	for _, column := range of {
		last := &schema.groups[len(schema.groups)-1]
		schema.places = append(schema.places, place{len(schema.groups) - 1, last.fixed})
		switch kind := column.Kind; {
		case kind == table.Boolean:
			last.booleans = append(last.booleans, last.fixed)
			last.fixed++
		case kind <= table.Double:
			last.fixed += 8
		default:
			last.then, last.last = kind, false
			schema.groups = append(schema.groups, group{last: true})
		}
	}
	return schema
}
