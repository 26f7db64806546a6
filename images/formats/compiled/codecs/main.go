// map-codecs tests the project's own codecs of Skiff and YSON. No pod image contains it.
//
// Usage:
//
//	map-codecs fuzz INPUTS [SEED]           decode INPUTS nearly valid inputs, half of each format
//	map-codecs pass FORMAT TABLE            decode the rows on standard input, and encode them to standard output
//	map-codecs speed FORMAT TABLE SECONDS   the same with a table in memory, for SECONDS: print the rows and seconds of decoding and encoding
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"storebench/images/formats/compiled/codec"
	"storebench/images/formats/compiled/stream"
	"storebench/images/formats/compiled/table"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	usage := errors.New("Usage: map-codecs fuzz INPUTS [SEED] | pass FORMAT TABLE | speed FORMAT TABLE SECONDS")
	if len(arguments) == 0 {
		return usage
	}
	switch what, rest := arguments[0], arguments[1:]; {
	case what == "fuzz" && (len(rest) == 1 || len(rest) == 2):
		inputs, err := strconv.ParseInt(rest[0], 10, 64)
		if err != nil || inputs < 2 {
			return fmt.Errorf("%q is not a number of inputs: 2 or more", rest[0])
		}
		seed := uint64(1)
		if len(rest) == 2 {
			if seed, err = strconv.ParseUint(rest[1], 10, 64); err != nil {
				return fmt.Errorf("%q is not a seed: a whole number", rest[1])
			}
		}
		return fuzz(inputs, seed)
	case what == "pass" && len(rest) == 2:
		of, err := codec.New(rest[0], codec.Tables[rest[1]])
		if err != nil {
			return err
		}
		out := stream.NewOutput(os.Stdout)
		err = of.Each(os.Stdin, func(row *table.Row) error {
			out.Data = of.Append(out.Data, row)
			return out.Written()
		})
		if err != nil {
			return err
		}
		return out.Flush()
	case what == "speed" && len(rest) == 3:
		of, err := codec.New(rest[0], codec.Tables[rest[1]])
		if err != nil {
			return err
		}
		seconds, err := strconv.ParseFloat(rest[2], 64)
		if err != nil {
			return fmt.Errorf("%q is not a number of seconds", rest[2])
		}
		return speed(of, time.Duration(seconds*float64(time.Second)))
	}
	return usage
}

// speed decodes and encodes the table on standard input row by row, repeatedly for the time `least`, and prints rows and seconds.
func speed(of *codec.Codec, least time.Duration) error {
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var encoded []byte
	rows, took := 0, time.Duration(0)
	for took < least {
		encoded = encoded[:0]
		began := time.Now()
		err := of.Each(bytes.NewReader(data), func(row *table.Row) error {
			rows++
			encoded = of.Append(encoded, row)
			return nil
		})
		took += time.Since(began)
		if err != nil {
			return err
		}
		if !bytes.Equal(data, encoded) {
			return errors.New("the encoded rows have other bytes than those that were decoded")
		}
	}
	fmt.Println(rows, took.Seconds())
	return nil
}

// fuzz tries inputs on all cores; each worker has a seed of its own. It prints its progress, and at the end the counts.
func fuzz(inputs int64, seed uint64) error {
	const step = 20_000
	workers := max(1, runtime.GOMAXPROCS(0))
	var lock sync.Mutex
	counts := map[string]*codec.Counts{}
	left := map[string]int64{}
	for place, name := range codec.Names {
		counts[name] = &codec.Counts{}
		left[name] = (inputs + int64(place)) / int64(len(codec.Names))
	}
	shown := time.Now()
	work := func(worker uint64) error {
		for place, name := range codec.Names {
			mutator, err := codec.NewMutator(name, seed<<16+worker<<1+uint64(place))
			if err != nil {
				return err
			}
			for {
				lock.Lock()
				share := min(step, left[name])
				left[name] -= share
				lock.Unlock()
				if share == 0 {
					break
				}
				before := mutator.Counts
				if err := mutator.Run(int(share)); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				lock.Lock()
				done := mutator.Counts
				done.Add(codec.Counts{Inputs: -before.Inputs, Rows: -before.Rows, Errors: -before.Errors, Whole: -before.Whole})
				counts[name].Add(done)
				if time.Since(shown) > 5*time.Second {
					shown = time.Now()
					fmt.Printf("%s: %d inputs of %d\n", name, counts[name].Inputs, inputs/int64(len(codec.Names)))
				}
				lock.Unlock()
			}
		}
		return nil
	}
	failed := make(chan error, workers)
	for worker := range workers {
		go func() { failed <- work(uint64(worker)) }()
	}
	for range workers {
		if err := <-failed; err != nil {
			return err
		}
	}
	for place, name := range codec.Names {
		if place > 0 {
			fmt.Print(" ")
		}
		of := counts[name]
		fmt.Printf("%s_inputs=%d %s_rows=%d %s_errors=%d", name, of.Inputs, name, of.Rows, name, of.Errors)
	}
	fmt.Println(" crashes=0")
	return nil
}
