package jobs

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

type numeric interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func zeros[T numeric](values []T) (found int64) {
	for _, value := range values {
		if value == 0 {
			found++
		}
	}
	return found
}

// zerosIn counts the zeros of a column.
func zerosIn(column arrow.Array) int64 {
	switch values := column.(type) {
	case *array.Int8:
		return zeros(values.Int8Values())
	case *array.Int16:
		return zeros(values.Int16Values())
	case *array.Int32:
		return zeros(values.Int32Values())
	case *array.Int64:
		return zeros(values.Int64Values())
	case *array.Uint8:
		return zeros(values.Uint8Values())
	case *array.Uint16:
		return zeros(values.Uint16Values())
	case *array.Uint32:
		return zeros(values.Uint32Values())
	case *array.Uint64:
		return zeros(values.Uint64Values())
	case *array.Float32:
		return zeros(values.Float32Values())
	case *array.Float64:
		return zeros(values.Float64Values())
	}
	return weighed(column, func(values arrow.Array) func(int) int64 {
		value, real := numberOf(values), values.DataType().ID() == arrow.FLOAT32 || values.DataType().ID() == arrow.FLOAT64
		return func(row int) int64 {
			if bits := value(row); bits == 0 || real && bits<<1 == 0 {
				return 1
			}
			return 0
		}
	})
}

// weighed sums the weights of the values of a dictionary column. It computes the weight of each distinct value once.
func weighed(column arrow.Array, weight func(values arrow.Array) func(row int) int64) (sum int64) {
	dictionary := column.(*array.Dictionary)
	values := dictionary.Dictionary()
	of := weight(values)
	for place, times := range tallied(dictionary.Indices(), values.Len()) {
		sum += times * of(place)
	}
	return sum
}

// tallied counts each index.
func tallied(indices arrow.Array, values int) []int64 {
	switch found := indices.(type) {
	case *array.Int8:
		return tally(found.Int8Values(), values)
	case *array.Int16:
		return tally(found.Int16Values(), values)
	case *array.Int32:
		return tally(found.Int32Values(), values)
	case *array.Int64:
		return tally(found.Int64Values(), values)
	case *array.Uint8:
		return tally(found.Uint8Values(), values)
	case *array.Uint16:
		return tally(found.Uint16Values(), values)
	case *array.Uint32:
		return tally(found.Uint32Values(), values)
	}
	return tally(indices.(*array.Uint64).Uint64Values(), values)
}

func tally[T numeric](indices []T, values int) []int64 {
	times := make([]int64, values)
	for _, index := range indices {
		times[int(index)]++
	}
	return times
}

// changer returns a function that changes a column's values. For a dictionary it changes the values and keeps the indices. It caches the last
// batch's dictionary, because the next batch mostly has the same.
func changer(change func(values *array.Int64) arrow.Array) func(column arrow.Array) arrow.Array {
	var last arrow.ArrayData
	var changed arrow.Array
	return func(column arrow.Array) arrow.Array {
		dictionary, is := column.(*array.Dictionary)
		if !is {
			return change(column.(*array.Int64))
		}
		if values := dictionary.Dictionary(); last != values.Data() {
			last, changed = values.Data(), change(values.(*array.Int64))
			last.Retain()
		}
		return array.NewDictionaryArray(dictionary.DataType(), dictionary.Indices(), changed)
	}
}

func moreByOne(values *array.Int64) arrow.Array {
	made := make([]int64, values.Len())
	for row, value := range values.Int64Values() {
		made[row] = value + 1
	}
	return integers(made)
}

func integers(values []int64) arrow.Array {
	return array.NewInt64Data(array.NewData(arrow.PrimitiveTypes.Int64, len(values),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(values))}, nil, 0, 0))
}

// numberOf returns a function that reads a column's number by row, as the bits of an int64, a uint64 or a double.
func numberOf(column arrow.Array) func(row int) uint64 {
	switch values := column.(type) {
	case *array.Dictionary:
		value := numberOf(values.Dictionary())
		return func(row int) uint64 { return value(values.GetValueIndex(row)) }
	case *array.Int8:
		return integerOf(values.Int8Values())
	case *array.Int16:
		return integerOf(values.Int16Values())
	case *array.Int32:
		return integerOf(values.Int32Values())
	case *array.Int64:
		return integerOf(values.Int64Values())
	case *array.Uint8:
		return integerOf(values.Uint8Values())
	case *array.Uint16:
		return integerOf(values.Uint16Values())
	case *array.Uint32:
		return integerOf(values.Uint32Values())
	case *array.Uint64:
		return integerOf(values.Uint64Values())
	case *array.Float32:
		return func(row int) uint64 { return math.Float64bits(float64(values.Value(row))) }
	case *array.Float64:
		return func(row int) uint64 { return math.Float64bits(values.Value(row)) }
	case *array.Boolean:
		return func(row int) uint64 {
			if values.Value(row) {
				return 1
			}
			return 0
		}
	}
	panic(fmt.Sprintf("a column of the type %s has no numbers", column.DataType()))
}

func integerOf[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](values []T) func(row int) uint64 {
	return func(row int) uint64 { return uint64(values[row]) }
}

// textOf returns a function that reads a column's string by row; nil for a missing string.
func textOf(column arrow.Array) func(row int) []byte {
	if dictionary, is := column.(*array.Dictionary); is {
		value := textOf(dictionary.Dictionary())
		return func(row int) []byte {
			if dictionary.IsNull(row) {
				return nil
			}
			return value(dictionary.GetValueIndex(row))
		}
	}
	values := column.(*array.Binary)
	return func(row int) []byte {
		if values.IsNull(row) {
			return nil
		}
		if found := values.Value(row); found != nil {
			return found
		}
		return []byte{}
	}
}
