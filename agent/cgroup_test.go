package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

const mib = 1 << 20

// The same container in both versions of the cgroup. Version 1 has an inactive_file of the container without its children, too.
var cgroups = map[string]map[string]string{
	"version 1": {
		"memory/memory.usage_in_bytes":     fmt.Sprintln(200 * mib),
		"memory/memory.stat":               fmt.Sprintf("cache 1\ninactive_file 7\ntotal_inactive_file %d\nunevictable 0\n", 50*mib),
		"memory/memory.oom_control":        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
		"memory/memory.max_usage_in_bytes": fmt.Sprintln(300 * mib),
		"memory/memory.limit_in_bytes":     fmt.Sprintln(1024 * mib),
		"cpuacct/cpuacct.usage":            "2500000000\n",
		"cpu/cpu.cfs_quota_us":             "50000\n",
		"cpu/cpu.cfs_period_us":            "100000\n",
		"cpu/cpu.stat":                     "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n",
		"blkio/blkio.throttle.io_service_bytes": "8:0 Read 4096\n8:0 Write 9\n8:0 Sync 4105\n8:16 Read 10\n8:16 Write 1\n" +
			"Total 4116\n",
	},
	"version 2": {
		"cgroup.controllers": "cpu memory\n",
		"memory.current":     fmt.Sprintln(200 * mib),
		"memory.stat":        fmt.Sprintf("anon 1\ninactive_file %d\nunevictable 0\n", 50*mib),
		"memory.events":      "low 0\noom 5\noom_kill 3\n",
		"memory.peak":        fmt.Sprintln(300 * mib),
		"memory.max":         fmt.Sprintln(1024 * mib),
		"cpu.max":            "50000 100000\n",
		"cpu.stat":           "usage_usec 2500000\nnr_throttled 4\nthrottled_usec 1500000\n",
		"io.stat":            "8:0 rbytes=4096 wbytes=9 rios=1 wios=1 dbytes=7 dios=1\n8:16 rbytes=10 wbytes=1 rios=1 wios=1\n",
	},
}

func TestCountersOfBothVersions(t *testing.T) {
	for name, files := range cgroups {
		t.Run(name, func(t *testing.T) {
			counters := newCgroup(writeFiles(t, files))
			equal(t, "the working set", counters.workingSet(make([]byte, 4096)), new(int64(150*mib)))
			peak, limit := counters.memory()
			equal(t, "the peak of the memory", peak, new(int64(300*mib)))
			equal(t, "the memory limit", limit, new(int64(1024*mib)))
			used, throttled, periods := counters.cpu()
			equal(t, "the CPU time", used, new(2.5))
			equal(t, "the throttled time", throttled, new(1.5))
			equal(t, "the number of throttled periods", periods, new(int64(4)))
			equal(t, "the number of OOM kills", counters.oomKills(), new(int64(3)))
			read, written := counters.io()
			equal(t, "the number of read bytes", read, new(int64(4106)))
			equal(t, "the number of written bytes", written, new(int64(10)))
			if cores := counters.cores(); cores != 0.5 {
				t.Errorf("the container may use %v cores, expected 0.5", cores)
			}
		})
	}
}

func TestMissingFilesAreMissingCounters(t *testing.T) {
	for name, files := range map[string]map[string]string{"version 1": {}, "version 2": {"cgroup.controllers": ""}} {
		t.Run(name, func(t *testing.T) {
			counters := newCgroup(writeFiles(t, files))
			equal(t, "the working set", counters.workingSet(make([]byte, 4096)), nil)
			peak, limit := counters.memory()
			equal(t, "the peak of the memory", peak, nil)
			equal(t, "the memory limit", limit, nil)
			used, throttled, periods := counters.cpu()
			equal(t, "the CPU time", used, nil)
			equal(t, "the throttled time", throttled, nil)
			equal(t, "the number of throttled periods", periods, nil)
			equal(t, "the number of OOM kills", counters.oomKills(), nil)
			read, written := counters.io()
			equal(t, "the number of read bytes", read, nil)
			equal(t, "the number of written bytes", written, nil)
			if cores := counters.cores(); cores != float64(runtime.NumCPU()) {
				t.Errorf("the container may use %v cores, expected all %d", cores, runtime.NumCPU())
			}
		})
	}
}

func TestWorkingSetFollowsTheOpenFiles(t *testing.T) {
	root := writeFiles(t, cgroups["version 2"])
	counters, buffer := newCgroup(root), make([]byte, 4096)
	for _, moment := range []struct {
		usage, stat string
		expected    int64
	}{
		{"900\n", "inactive_file 100\n", 800},
		{"1000\n", "anon 1\ninactive_file 300", 700}, // the last line may lack its end
		{"1000\n", "active_file 300\n", 1000},
		{"100\n", "inactive_file 300\n", 0}, // the kernel updates the two files at different times
	} {
		rewrite(t, root, map[string]string{"memory.current": moment.usage, "memory.stat": moment.stat})
		equal(t, fmt.Sprintf("the working set of %q and %q", moment.usage, moment.stat), counters.workingSet(buffer), &moment.expected)
	}
	if err := os.Remove(filepath.Join(root, "memory.current")); err != nil {
		t.Fatal(err)
	}
	equal(t, "the working set of a removed file, which is still open", counters.workingSet(buffer), new(int64(0)))
}

func TestContainerWithoutLimits(t *testing.T) {
	for name, unlimited := range map[string]map[string]string{
		"version 1": {"memory/memory.limit_in_bytes": "9223372036854771712\n", "cpu/cpu.cfs_quota_us": "-1\n"},
		"version 2": {"memory.max": "max\n", "cpu.max": "max 100000\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root := writeFiles(t, cgroups[name])
			rewrite(t, root, unlimited)
			counters := newCgroup(root)
			_, limit := counters.memory()
			equal(t, "the memory limit", limit, nil)
			if cores := counters.cores(); cores != float64(runtime.NumCPU()) {
				t.Errorf("the container may use %v cores, expected all %d", cores, runtime.NumCPU())
			}
		})
	}
}

func TestLimitAboveTheMachineIsTheMachine(t *testing.T) {
	root := writeFiles(t, map[string]string{"cgroup.controllers": "", "cpu.max": fmt.Sprintf("%d 1000\n", math.MaxInt32)})
	if cores := newCgroup(root).cores(); cores != float64(runtime.NumCPU()) {
		t.Errorf("the container may use %v cores, expected all %d", cores, runtime.NumCPU())
	}
}

func TestNoDeviceIsNoCount(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"version 1": {"blkio/blkio.throttle.io_service_bytes": "Total 0\n"},
		"version 2": {"cgroup.controllers": "", "io.stat": ""},
	} {
		t.Run(name, func(t *testing.T) {
			read, written := newCgroup(writeFiles(t, files)).io()
			equal(t, "the number of read bytes", read, nil)
			equal(t, "the number of written bytes", written, nil)
		})
	}
}
