package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// cgroup reads the counters of the container's own cgroup, version 1 or 2, as src/storebench/attempt/cgroup.py does.
// A counter that the kernel does not report is nil. Sources: the kernel's Documentation/admin-guide/cgroup-v2.rst,
// cgroup-v1/memory.rst and cgroup-v1/blkio-controller.rst.
type cgroup struct {
	version                                int
	usage, stat                            int // open files: they are read ten times per second
	inactive                               []byte
	events, cpuStat, cpuUsage, ioV2, blkio string
	memoryPeak, memoryLimit                string
	cpuLimit                               []string // files with the quota and the period
}

func newCgroup(root string) *cgroup {
	in := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	if _, err := os.Stat(in("cgroup.controllers")); err == nil {
		return &cgroup{version: 2, usage: opened(in("memory.current")), stat: opened(in("memory.stat")), events: in("memory.events"),
			inactive: []byte("inactive_file "), cpuStat: in("cpu.stat"), cpuLimit: []string{in("cpu.max")}, ioV2: in("io.stat"),
			memoryPeak: in("memory.peak"), memoryLimit: in("memory.max")}
	}
	return &cgroup{version: 1, usage: opened(in("memory", "memory.usage_in_bytes")),
		stat: opened(in("memory", "memory.stat")), events: in("memory", "memory.oom_control"), inactive: []byte("total_inactive_file "),
		cpuStat: in("cpu", "cpu.stat"), cpuUsage: in("cpuacct", "cpuacct.usage"),
		cpuLimit:   []string{in("cpu", "cpu.cfs_quota_us"), in("cpu", "cpu.cfs_period_us")},
		blkio:      in("blkio", "blkio.throttle.io_service_bytes"),
		memoryPeak: in("memory", "memory.max_usage_in_bytes"), memoryLimit: in("memory", "memory.limit_in_bytes")}
}

func opened(path string) int {
	file, err := openFile(path)
	if err != nil {
		return -1
	}
	return file
}

// workingSet returns the memory in use in bytes, without page cache that the kernel could drop at once. It reads into `buffer`.
func (c *cgroup) workingSet(buffer []byte) *int64 {
	usage, ok := parseInteger(readInto(c.usage, buffer))
	if !ok {
		return nil
	}
	stat := readInto(c.stat, buffer)
	for len(stat) > 0 {
		line := stat
		if end := bytes.IndexByte(stat, '\n'); end >= 0 {
			line, stat = stat[:end], stat[end+1:]
		} else {
			stat = nil
		}
		if bytes.HasPrefix(line, c.inactive) {
			inactive, _ := parseInteger(line[len(c.inactive):])
			usage -= inactive
			break
		}
	}
	if usage < 0 {
		usage = 0
	}
	return &usage
}

// memory returns the peak of the memory in use so far, including page cache, and the memory limit or nil. Both are in bytes.
func (c *cgroup) memory() (peak, limit *int64) {
	read := func(path string) *int64 {
		text, _ := os.ReadFile(path)
		if value, ok := parseInteger(text); ok {
			return &value
		}
		return nil
	}
	peak, limit = read(c.memoryPeak), read(c.memoryLimit)
	if limit != nil && *limit >= 1<<60 {
		limit = nil
	}
	return peak, limit
}

// cpu returns the CPU time, the time during which the CPU limit throttled the container, and the number of throttled periods.
func (c *cgroup) cpu() (usedSeconds, throttledSeconds *float64, throttledPeriods *int64) {
	table := tableOf(c.cpuStat)
	if c.version == 2 {
		return seconds(table, "usage_usec", 1e6), seconds(table, "throttled_usec", 1e6), entry(table, "nr_throttled")
	}
	if text, err := os.ReadFile(c.cpuUsage); err == nil {
		if used, ok := parseInteger(text); ok {
			value := float64(used) / 1e9
			usedSeconds = &value
		}
	}
	return usedSeconds, seconds(table, "throttled_time", 1e9), entry(table, "nr_throttled")
}

// cores returns the number of cores that the container may use: the cores in its affinity mask, up to the CPU limit.
func (c *cgroup) cores() float64 {
	cores := float64(runtime.NumCPU())
	var fields [][]byte
	for _, path := range c.cpuLimit {
		text, _ := os.ReadFile(path)
		fields = append(fields, bytes.Fields(text)...)
	}
	if len(fields) != 2 {
		return cores
	}
	quota, limited := parseInteger(fields[0]) // "max" in version 2, and -1 in version 1: no limit
	period, known := parseInteger(fields[1])
	if !limited || !known || quota <= 0 || period <= 0 {
		return cores
	}
	return math.Min(cores, float64(quota)/float64(period))
}

func (c *cgroup) oomKills() *int64 { return entry(tableOf(c.events), "oom_kill") }

// io returns the bytes that block devices have read and written for the cgroup. Both are nil if the kernel names no device: then the
// kernel does not count (version 1 of newer kernels, without a limit), or no bytes have reached a disk yet.
func (c *cgroup) io() (read, written *int64) {
	add := func(sum **int64, value int64) {
		if *sum == nil {
			*sum = new(int64)
		}
		**sum += value
	}
	if c.version == 2 { // 8:0 rbytes=1 wbytes=2 rios=...
		text, _ := os.ReadFile(c.ioV2)
		for _, field := range bytes.Fields(text) {
			name, number, _ := bytes.Cut(field, []byte("="))
			if value, ok := parseInteger(number); ok && string(name) == "rbytes" {
				add(&read, value)
			} else if ok && string(name) == "wbytes" {
				add(&written, value)
			}
		}
		return read, written
	}
	text, _ := os.ReadFile(c.blkio)
	for _, line := range bytes.Split(text, []byte("\n")) { // 8:0 Read 1
		fields := bytes.Fields(line)
		if len(fields) != 3 {
			continue
		}
		if value, ok := parseInteger(fields[2]); ok && string(fields[1]) == "Read" {
			add(&read, value)
		} else if ok && string(fields[1]) == "Write" {
			add(&written, value)
		}
	}
	return read, written
}

// readInto returns the content of a small file. It bypasses the Go runtime's system call wrapper: the kernel answers at once, and the
// runtime's monitor would wake up and use more CPU than the rest of the agent.
func readInto(file int, buffer []byte) []byte {
	for {
		got, _, code := syscall.RawSyscall6(syscall.SYS_PREAD64, uintptr(file), uintptr(unsafe.Pointer(&buffer[0])),
			uintptr(len(buffer)), 0, 0, 0)
		if code == 0 {
			return buffer[:got]
		}
		if code != syscall.EINTR {
			return nil
		}
	}
}

func parseInteger(text []byte) (int64, bool) {
	value, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return value, err == nil
}

func tableOf(path string) map[string]int64 {
	text, _ := os.ReadFile(path)
	return parseTable(text)
}

// parseTable parses lines with a name and a number each.
func parseTable(text []byte) map[string]int64 {
	table := map[string]int64{}
	for _, line := range bytes.Split(text, []byte("\n")) {
		if fields := bytes.Fields(line); len(fields) == 2 {
			if value, ok := parseInteger(fields[1]); ok {
				table[string(fields[0])] = value
			}
		}
	}
	return table
}

func entry(table map[string]int64, name string) *int64 {
	if value, ok := table[name]; ok {
		return &value
	}
	return nil
}

func seconds(table map[string]int64, name string, perSecond float64) *float64 {
	if value, ok := table[name]; ok {
		result := float64(value) / perSecond
		return &result
	}
	return nil
}
