// map-job runs a job of the study map_formats as a process: it reads a tenth of the table on standard input, and writes rows to standard output.
//
// Usage: map-job FORMAT BENCHMARK FIRST STOP REPORT POSITION INTERFACE ACCESS. FORMAT may be `null`. FIRST and STOP are the range of numbers of
// the written rows; `null` writes STOP - FIRST bytes. REPORT is a file descriptor. POSITION is the position where `extend` adds its column:
// `end` or `middle`. INTERFACE is `direct` or `common`. ACCESS is `row`, or `column` for arrow. The program writes a line of JSON to REPORT
// when the job is ready, before it reads input, and a line when the job has ended and its output is closed. A failure is a message on
// standard error and the exit code 1.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"storebench/images/formats/compiled/jobs"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) (err error) {
	defer func() { // recover from a library's panic
		if found := recover(); found != nil {
			err = fmt.Errorf("the job has failed within: %v", found)
		}
	}()
	if len(arguments) != 8 {
		return errors.New("Usage: map-job FORMAT BENCHMARK FIRST STOP REPORT POSITION INTERFACE ACCESS")
	}
	var numbers [3]int64
	for place := range numbers {
		if numbers[place], err = strconv.ParseInt(arguments[2+place], 10, 64); err != nil || numbers[place] < 0 {
			return fmt.Errorf("%q is not a whole number of 0 or more", arguments[2+place])
		}
	}
	work, err := jobs.New(arguments[0], jobs.Job{
		Benchmark: arguments[1], First: numbers[0], Stop: numbers[1], Position: arguments[5], Interface: arguments[6],
		Access: arguments[7],
	})
	if err != nil {
		return err
	}
	report := os.NewFile(uintptr(numbers[2]), "report")
	if _, err = fmt.Fprintf(report, "{\"cpu_s\": %.6f}\n", cpuS()); err != nil {
		return err
	}
	// The wrappers hide methods by which Go would copy bytes within the kernel: null reads and writes its bytes, like other jobs.
	if err = work(struct{ io.Reader }{os.Stdin}, struct{ io.Writer }{os.Stdout}); err != nil {
		return err
	}
	if err = os.Stdout.Close(); err != nil {
		return err
	}
	peak, err := memoryPeakBytes()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(report, "{\"cpu_s\": %.6f, \"memory_peak_bytes\": %d}\n", cpuS(), peak)
	return err
}

// cpuS returns the CPU time of this process in seconds.
func cpuS() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // the call cannot fail for the process itself
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// memoryPeakBytes returns the memory peak of this process. The peak that the kernel reports to the parent is never below the parent's own.
func memoryPeakBytes() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	found := regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB`).FindSubmatch(status)
	if found == nil {
		return 0, errors.New("/proc/self/status does not have VmHWM")
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(found[1])), 10, 64)
	return kilobytes << 10, err
}
