package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// The columns of the first line of /proc/stat, in ticks of 10 ms. The columns after `steal` are already counted in `user`.
var cpuStates = [...]string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}

const ticksPerSecond = 100 // USER_HZ, on every architecture that Go knows

// nodeCounters are the node's counters at one moment in seconds, as src/storebench/attempt/node.py reads them. Counters that the kernel
// does not report are absent.
type nodeCounters struct {
	at               time.Time
	cores            int
	stalled, cpu     map[string]float64
	ownCPU           *float64
	throttledPeriods *int64
}

// window is the growth of the node's counters during an operation.
type window struct {
	Seconds          float64            `json:"seconds"`
	Cores            int                `json:"cores"`
	OwnCPU           *float64           `json:"cpu_s"`
	ThrottledPeriods *int64             `json:"throttled_periods"`
	Stalled          map[string]float64 `json:"stalled_s"`
	CPU              map[string]float64 `json:"node_cpu_s"`
}

func readNode(proc string, own *cgroup) *nodeCounters {
	found := &nodeCounters{at: time.Now(), stalled: map[string]float64{}, cpu: map[string]float64{}}
	for _, resource := range []string{"cpu", "memory", "io"} {
		text, _ := os.ReadFile(filepath.Join(proc, "pressure", resource)) // some avg10=0.00 avg60=0.00 avg300=0.00 total=12345
		for _, line := range bytes.Split(text, []byte("\n")) {
			fields := bytes.Fields(line)
			if len(fields) < 2 {
				continue
			}
			if total, ok := parseInteger(bytes.TrimPrefix(fields[len(fields)-1], []byte("total="))); ok {
				found.stalled[resource+"_"+string(fields[0])] = float64(total) / 1e6
			}
		}
	}
	text, _ := os.ReadFile(filepath.Join(proc, "stat"))
	for _, line := range bytes.Split(text, []byte("\n")) {
		fields := bytes.Fields(line)
		if len(fields) == 0 || !bytes.HasPrefix(fields[0], []byte("cpu")) {
			break // only the first lines are about CPUs
		}
		if string(fields[0]) != "cpu" {
			found.cores++
			continue
		}
		for number, state := range cpuStates {
			if number+1 < len(fields) {
				if ticks, err := strconv.ParseFloat(string(fields[number+1]), 64); err == nil {
					found.cpu[state] = ticks / ticksPerSecond
				}
			}
		}
	}
	if found.cores == 0 {
		found.cores = 1
	}
	found.ownCPU, _, found.throttledPeriods = own.cpu()
	return found
}

// with adds the growth between two moments to the window; a nil window begins a new one.
func (w *window) with(before, after *nodeCounters) *window {
	grown := &window{Seconds: micro(math.Max(0, after.at.Sub(before.at).Seconds())), Cores: after.cores,
		OwnCPU:           differenceOf(after.ownCPU, before.ownCPU),
		ThrottledPeriods: difference(after.throttledPeriods, before.throttledPeriods),
		Stalled:          growth(before.stalled, after.stalled), CPU: growth(before.cpu, after.cpu)}
	if grown.OwnCPU != nil {
		*grown.OwnCPU = micro(*grown.OwnCPU)
	}
	if w == nil {
		return grown
	}
	grown.Seconds = micro(grown.Seconds + w.Seconds)
	grown.OwnCPU = sumOf(grown.OwnCPU, w.OwnCPU)
	grown.ThrottledPeriods = sumOf(grown.ThrottledPeriods, w.ThrottledPeriods)
	for _, pair := range []struct{ sums, others map[string]float64 }{{grown.Stalled, w.Stalled}, {grown.CPU, w.CPU}} {
		for name := range pair.sums {
			pair.sums[name] = micro(pair.sums[name] + pair.others[name])
		}
	}
	return grown
}

// growth returns the growth of each counter that both moments have. A counter that went back, as the kernel's idle time may, counts as
// unchanged.
func growth(before, after map[string]float64) map[string]float64 {
	found := map[string]float64{}
	for name, value := range after {
		if began, is := before[name]; is {
			found[name] = micro(math.Max(0, value-began))
		}
	}
	return found
}

func sumOf[number int64 | float64](one, other *number) *number {
	if one == nil || other == nil {
		return nil
	}
	sum := *one + *other
	return &sum
}

// micro rounds seconds to microseconds.
func micro(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
