// map-job is a job of the study map_formats, as a process: a tenth of the table comes in on standard input, rows go out on standard output.
//
// Usage: map-job FORMAT BENCHMARK FIRST STOP REPORT POSITION INTERFACE ACCESS. FORMAT may be `null`. FIRST and STOP are the numbers of the
// rows that are written; `null` writes STOP - FIRST bytes. REPORT is a file descriptor. POSITION is where `extend` adds its column, `end`
// or `middle`. INTERFACE is `direct` or `common`. ACCESS is `row`, or `column` for arrow. A line of JSON at REPORT says that the job is
// ready: nothing of the input is read before it. Another line says that the job has ended and its output is closed. The program fails
// with a message on standard error and the exit code 1.
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
	defer func() { // a library's
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
	// Without the methods by which Go would pass bytes on within the kernel: what passes is read and written, as in the other jobs.
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

// cpuS is the CPU time of this process, in seconds.
func cpuS() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it cannot fail for the process itself
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// memoryPeakBytes is of this process: what the kernel tells its parent is not less than the parent's own.
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
