package main

import (
	"maps"
	"testing"
	"time"
)

const pressure = "some avg10=1.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=250000\n"

// node has two cores. The columns after `steal` are the guests' time, which `user` and `nice` contain already.
var node = map[string]string{
	"stat": "cpu  100 20 30 4000 50 6 7 8 90 10\ncpu0 50 10 15 2000 25 3 3 4 45 5\ncpu1 50 10 15 2000 25 3 4 4 45 5\n" +
		"intr 12345 1 2 3\nctxt 678\n",
	"pressure/cpu":    pressure,
	"pressure/memory": pressure,
	"pressure/io":     pressure,
}

func sameSeconds(t *testing.T, what string, actual, expected map[string]float64) {
	t.Helper()
	if !maps.Equal(actual, expected) {
		t.Errorf("%s are %v, expected %v", what, actual, expected)
	}
}

func TestNodeCountersAreSeconds(t *testing.T) {
	counters := readNode(writeFiles(t, node), newCgroup(writeFiles(t, cgroups["version 2"])))
	if counters.cores != 2 {
		t.Errorf("the node has %d cores, expected 2", counters.cores)
	}
	sameSeconds(t, "the CPU's states", counters.cpu, map[string]float64{
		"user": 1, "nice": 0.2, "system": 0.3, "idle": 40, "iowait": 0.5, "irq": 0.06, "softirq": 0.07, "steal": 0.08})
	sameSeconds(t, "the stalls", counters.stalled, map[string]float64{
		"cpu_some": 1.5, "cpu_full": 0.25, "memory_some": 1.5, "memory_full": 0.25, "io_some": 1.5, "io_full": 0.25})
	equal(t, "the container's CPU time", counters.ownCPU, new(2.5))
	equal(t, "the number of throttled periods", counters.throttledPeriods, new(int64(4)))
}

func TestUnreportedNodeCountersAreAbsent(t *testing.T) {
	empty := newCgroup(t.TempDir())
	counters := readNode(t.TempDir(), empty)
	if counters.cores != 1 || len(counters.cpu) > 0 || len(counters.stalled) > 0 || counters.ownCPU != nil {
		t.Errorf("an empty folder has the counters %+v, expected one core and nothing else", counters)
	}
	old := readNode(writeFiles(t, map[string]string{"stat": "cpu 100 0 0 200\ncpu0 100 0 0 200\n", "pressure/io": "some avg10=0.00 total=x\n"}), empty)
	sameSeconds(t, "the CPU's states", old.cpu, map[string]float64{"user": 1, "nice": 0, "system": 0, "idle": 2})
	sameSeconds(t, "the stalls", old.stalled, map[string]float64{})
}

func TestWindowIsTheGrowthOfTheCounters(t *testing.T) {
	began := time.Now()
	before := &nodeCounters{at: began, cores: 2, ownCPU: new(1.0), throttledPeriods: new(int64(4)),
		stalled: map[string]float64{"cpu_some": 1, "io_some": 5}, cpu: map[string]float64{"user": 1, "idle": 40}}
	after := &nodeCounters{at: began.Add(2500 * time.Millisecond), cores: 4, ownCPU: new(1.25), throttledPeriods: new(int64(7)),
		stalled: map[string]float64{"cpu_some": 1.5, "memory_some": 3}, cpu: map[string]float64{"user": 2.5, "idle": 39.99}}
	var none *window
	first := none.with(before, after)
	if first.Seconds != 2.5 || first.Cores != 4 {
		t.Errorf("the window has %v s and %d cores, expected 2.5 s and 4 cores", first.Seconds, first.Cores)
	}
	equal(t, "the container's CPU time", first.OwnCPU, new(0.25))
	equal(t, "the number of throttled periods", first.ThrottledPeriods, new(int64(3)))
	sameSeconds(t, "the stalls at both moments", first.Stalled, map[string]float64{"cpu_some": 0.5})
	sameSeconds(t, "the CPU's states, of which one went back", first.CPU, map[string]float64{"user": 1.5, "idle": 0})

	second := first.with(before, after)
	if second.Seconds != 5 || second.Cores != 4 {
		t.Errorf("two windows have %v s and %d cores, expected 5 s and 4 cores", second.Seconds, second.Cores)
	}
	equal(t, "the container's CPU time in two windows", second.OwnCPU, new(0.5))
	equal(t, "the number of throttled periods in two windows", second.ThrottledPeriods, new(int64(6)))
	sameSeconds(t, "the stalls in two windows", second.Stalled, map[string]float64{"cpu_some": 1})
	sameSeconds(t, "the CPU's states in two windows", second.CPU, map[string]float64{"user": 3, "idle": 0})
}

func TestWindowOfACounterThatIsMissingOnce(t *testing.T) {
	before := &nodeCounters{at: time.Now(), ownCPU: new(1.0)}
	after := &nodeCounters{at: before.at.Add(-time.Second)}
	var none *window
	grown := none.with(before, after)
	if grown.Seconds != 0 {
		t.Errorf("a clock that went back gives %v s, expected 0", grown.Seconds)
	}
	equal(t, "the container's CPU time", grown.OwnCPU, nil)
	equal(t, "the number of throttled periods", grown.ThrottledPeriods, nil)
	whole := (&window{OwnCPU: new(1.0), ThrottledPeriods: new(int64(1))}).with(before, after)
	equal(t, "the CPU time of two windows, one of which lacks it", whole.OwnCPU, nil)
	equal(t, "the number of throttled periods of two windows, one of which lacks it", whole.ThrottledPeriods, nil)
}
