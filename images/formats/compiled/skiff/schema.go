// Package skiff reads and writes Skiff, after its public specification and as ytsaurus-client has it: 8 bytes for a number of any width.
//
// A row is two bytes with the number of its table, and its values. Nothing says where a row ends: a schema, which both sides know, does.
// A number is of 8 bytes, a boolean of one, a string is its length in 4 bytes and its bytes. An optional value has a tag before it, 0
// where it is missing. Each element of a list has the tag 0 before it, and after the last one there is the tag 255. A dict is a list of
// pairs, a struct its fields. All is little-endian.
package skiff

import "storebench/images/formats/compiled/table"

const (
	name      = "Skiff"
	tableSize = 2 // bytes of a row's table number
	lengthOf  = 4 // bytes of a string's length
	end       = 0xFF
)

// A row is a row of groups: values of a fixed size, and after them one of another. Where groups begin is all that is found out of a row
// before its values are asked for.
type group struct {
	fixed    int   // bytes of the values of a fixed size
	booleans []int // where booleans are among them
	then     table.Kind
	last     bool // nothing follows
}

// place is where a column's value is: so many bytes after a group's begin.
type place struct{ group, delta int }

// Schema is what both sides know of the rows of a table.
type Schema struct {
	table  table.Table
	groups []group
	places []place
}

// NewSchema is the schema of a table.
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
