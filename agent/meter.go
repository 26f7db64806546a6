package main

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const sampleInterval = 100 * time.Millisecond

// figures are the container's counters at one moment. Nil: the kernel does not report the counter.
type figures struct {
	Version          string   `json:"version"`
	CPUSeconds       *float64 `json:"cpu_s"`
	WorkingSet       *int64   `json:"memory_working_set_bytes"`
	WorkingSetPeak   *int64   `json:"memory_working_set_peak_bytes"` // since the last begin
	ThrottledSeconds *float64 `json:"throttled_s"`
	ThrottledPeriods *int64   `json:"throttled_periods"`
	OOMKills         *int64   `json:"oom_kills"`
	diskIO
	DataBytes      *int64   `json:"data_bytes"`
	Restarts       int      `json:"restarts"`
	ServerPID      *int     `json:"server_pid"`
	StartedAt      string   `json:"started_at"`
	AgentStartedAt string   `json:"agent_started_at"`
	AgentCPU       float64  `json:"agent_cpu_s"`
	AgentRSS       int64    `json:"agent_rss_bytes"`
	Notes          []string `json:"notes"` // why a figure is missing

	cgroupIO, processIO counted
}

// used is the resource usage of the container between begin and end.
type used struct {
	Seconds          float64  `json:"seconds"`
	CPUSeconds       *float64 `json:"cpu_s"`
	CoresUsable      float64  `json:"cores_usable"`
	WorkingSetPeak   *int64   `json:"memory_working_set_peak_bytes"`
	ThrottledSeconds *float64 `json:"throttled_s"`
	ThrottledPeriods *int64   `json:"throttled_periods"`
	OOMKills         *int64   `json:"oom_kills"`
	diskIO
	DataBytes      *int64   `json:"data_bytes"` // at the end
	DataAddedBytes *int64   `json:"data_added_bytes"`
	Restarts       int      `json:"restarts"`
	AgentCPU       float64  `json:"agent_cpu_s"`
	AgentRSS       int64    `json:"agent_rss_bytes"` // at the end
	Notes          []string `json:"notes"`
}

// cpu is the CPU time of the container so far, and the machine's boot ID.
type cpu struct {
	CPUSeconds *float64 `json:"cpu_s"`
	BootID     string   `json:"boot_id"` // containers with the same ID share a node; empty: unknown
}

// diskIO is the bytes read from and written to disk, each with the source of its count: "cgroup", "processes", or nil.
type diskIO struct {
	ReadBytes     *int64  `json:"read_bytes"`
	ReadSource    *string `json:"read_bytes_source"`
	WrittenBytes  *int64  `json:"written_bytes"`
	WrittenSource *string `json:"written_bytes_source"`
}

type counted struct{ read, written *int64 }

type meter struct {
	cgroup    *cgroup
	folders   []string
	server    *server
	startedAt time.Time

	mutex sync.Mutex // guards the fields below
	peak  *int64
	buf   []byte
	begun *figures
	at    time.Time
}

func newMeter(settings *settings, server *server) *meter {
	return &meter{cgroup: newCgroup(settings.cgroup), folders: settings.data, server: server, startedAt: time.Now(),
		buf: make([]byte, 16<<10)}
}

func (m *meter) sample() {
	m.look()
	for range time.NewTicker(sampleInterval).C {
		m.look()
	}
}

func (m *meter) look() (now, peak *int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	now = m.cgroup.workingSet(m.buf)
	if now != nil && (m.peak == nil || *now > *m.peak) {
		m.peak = now
	}
	return now, m.peak
}

// cpu reads a single counter: unlike read, cpu is cheap enough to be called just before a timed operation.
func (m *meter) cpu() cpu {
	used, _, _ := m.cgroup.cpu()
	bootID, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return cpu{used, strings.TrimSpace(string(bootID))}
}

// read reads all counters, and then the size of the data: walking many files must not add to the counters.
func (m *meter) read() *figures {
	f := &figures{Version: version, Notes: []string{}}
	f.WorkingSet, f.WorkingSetPeak = m.look()
	f.CPUSeconds, f.ThrottledSeconds, f.ThrottledPeriods = m.cgroup.cpu()
	f.OOMKills = m.cgroup.oomKills()
	f.cgroupIO.read, f.cgroupIO.written = m.cgroup.io()
	if read, written, err := processIO(); err == nil {
		f.processIO = counted{&read, &written}
	} else {
		f.Notes = append(f.Notes, "the processes' own counts of I/O cannot be read: "+err.Error())
	}
	f.diskIO = m.choose(f.cgroupIO, f.processIO)
	if f.CPUSeconds == nil || f.WorkingSet == nil {
		f.Notes = append(f.Notes, "the cgroup's files of CPU or memory cannot be read: is it mounted at /sys/fs/cgroup?")
	}
	pid, restarts, startedAt := m.server.state()
	if pid != 0 {
		f.ServerPID = &pid
	}
	f.Restarts, f.StartedAt, f.AgentStartedAt = restarts, moment(startedAt), moment(m.startedAt)
	f.AgentCPU, f.AgentRSS = ownCost()
	if size, err := dataBytes(m.folders); err == nil && len(m.folders) > 0 {
		f.DataBytes = &size
	} else if err != nil {
		f.Notes = append(f.Notes, err.Error())
	} else {
		f.Notes = append(f.Notes, "the data's folders are not known: set STOREBENCH_AGENT_DATA")
	}
	return f
}

// choose prefers the cgroup's counts to the processes' counts. Version 1 does not attribute pages that the kernel writes back later: there
// choose prefers the processes' counts.
func (m *meter) choose(cgroup, processes counted) diskIO {
	pick := func(values [2]*int64, names [2]string) (*int64, *string) {
		for i, value := range values {
			if value != nil {
				return value, &names[i]
			}
		}
		return nil, nil
	}
	result := diskIO{}
	result.ReadBytes, result.ReadSource = pick([2]*int64{cgroup.read, processes.read}, [2]string{"cgroup", "processes"})
	if m.cgroup.version == 1 {
		result.WrittenBytes, result.WrittenSource = pick([2]*int64{processes.written, cgroup.written}, [2]string{"processes", "cgroup"})
	} else {
		result.WrittenBytes, result.WrittenSource = pick([2]*int64{cgroup.written, processes.written}, [2]string{"cgroup", "processes"})
	}
	return result
}

// begin resets the peak and stores the counters.
func (m *meter) begin() time.Time {
	before := m.read()
	m.mutex.Lock()
	m.peak = nil
	m.mutex.Unlock()
	m.look()
	// Read the counters again, without the walk over the data: the cost of the walk is before the beginning.
	now := m.counters(before)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.begun, m.at = now, time.Now()
	return m.at
}

// counters returns the current counters, with the size of the data from `before`.
func (m *meter) counters(before *figures) *figures {
	now := *before
	now.CPUSeconds, now.ThrottledSeconds, now.ThrottledPeriods = m.cgroup.cpu()
	now.cgroupIO.read, now.cgroupIO.written = m.cgroup.io()
	now.OOMKills = m.cgroup.oomKills()
	if read, written, err := processIO(); err == nil {
		now.processIO = counted{&read, &written}
	}
	now.AgentCPU, _ = ownCost()
	return &now
}

// since returns the usage since begin, or nil without a begin.
func (m *meter) since() *used {
	m.mutex.Lock()
	before, at := m.begun, m.at
	m.mutex.Unlock()
	if before == nil {
		return nil
	}
	seconds := time.Since(at).Seconds()
	now := m.read()
	processes := counted{difference(now.processIO.read, before.processIO.read), difference(now.processIO.written, before.processIO.written)}
	if processes.written != nil && *processes.written < 0 {
		processes.written = nil
		now.Notes = append(now.Notes, "the processes' own count of written bytes has decreased: the server has deleted data of an earlier write before the data reached the disk")
	}
	io := m.choose(
		counted{sinceZero(now.cgroupIO.read, before.cgroupIO.read), sinceZero(now.cgroupIO.written, before.cgroupIO.written)}, processes)
	return &used{
		Seconds: seconds, CPUSeconds: differenceOf(now.CPUSeconds, before.CPUSeconds), CoresUsable: m.cgroup.cores(),
		WorkingSetPeak:   now.WorkingSetPeak,
		ThrottledSeconds: differenceOf(now.ThrottledSeconds, before.ThrottledSeconds),
		ThrottledPeriods: difference(now.ThrottledPeriods, before.ThrottledPeriods),
		OOMKills:         difference(now.OOMKills, before.OOMKills), diskIO: io, DataBytes: now.DataBytes,
		DataAddedBytes: difference(now.DataBytes, before.DataBytes), Restarts: now.Restarts - before.Restarts,
		AgentCPU: now.AgentCPU - before.AgentCPU, AgentRSS: now.AgentRSS, Notes: now.Notes}
}

func (m *meter) end() *used {
	result := m.since()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.begun = nil
	return result
}

func difference(now, before *int64) *int64 {
	if now == nil || before == nil {
		return nil
	}
	value := *now - *before
	return &value
}

// sinceZero returns the growth of a counter that appears with its first count: a missing earlier value is 0.
func sinceZero(now, before *int64) *int64 {
	if before == nil {
		return now
	}
	return difference(now, before)
}

func differenceOf(now, before *float64) *float64 {
	if now == nil || before == nil {
		return nil
	}
	value := *now - *before
	return &value
}

// ownCost returns the usage of the agent itself, which is part of the container's figures.
func ownCost() (cpuSeconds float64, rss int64) {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		cpuSeconds = float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
	}
	statm, _ := os.ReadFile("/proc/self/statm") // total resident shared ..., in pages
	if fields := strings.Fields(string(statm)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		rss = pages * int64(os.Getpagesize())
	}
	return cpuSeconds, rss
}

func moment(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// leaveMessage writes how the server ended and its usage to the log, and to the termination message that Kubernetes shows.
func leaveMessage(path string, end ending, m *meter) {
	text, _ := json.Marshal(struct {
		Message  string   `json:"message"`
		ExitCode int      `json:"exit_code"`
		Figures  *figures `json:"figures"`
		Since    *used    `json:"since_begin"`
	}{"the server ended by itself: " + end.String(), end.code, m.read(), m.since()})
	say("%s", text)
	if file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0); err == nil {
		file.Write(text)
		file.Close()
	}
}
