package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newTestMeter returns a meter of a container with these files of its cgroup and an empty folder of data.
func newTestMeter(t *testing.T, files map[string]string) (counters *meter, root, data string) {
	t.Helper()
	root, data = writeFiles(t, files), t.TempDir()
	read := &settings{cgroup: root, data: []string{data}}
	return newMeter(read, newServer("/bin/true", []string{"true"}, nil, nil)), root, data
}

func TestFiguresSayWhyTheyAreMissing(t *testing.T) {
	counters := newMeter(&settings{cgroup: t.TempDir()}, newServer("/bin/true", []string{"true"}, nil, nil))
	read := counters.read()
	equal(t, "the CPU time", read.CPUSeconds, nil)
	equal(t, "the size of the data", read.DataBytes, nil)
	if read.ServerPID != nil {
		t.Errorf("the server has the PID %d, expected none", *read.ServerPID)
	}
	notes := strings.Join(read.Notes, "\n")
	for _, expected := range []string{"is it mounted at /sys/fs/cgroup?", "set STOREBENCH_AGENT_DATA"} {
		if !strings.Contains(notes, expected) {
			t.Errorf("the notes are %q, expected %q among them", notes, expected)
		}
	}
	if complete, _, _ := newTestMeter(t, cgroups["version 2"]); len(complete.read().Notes) > 0 {
		t.Errorf("the notes of a complete cgroup are %q, expected none", complete.read().Notes)
	}
}

func TestWindowOfTheContainer(t *testing.T) {
	counters, root, data := newTestMeter(t, cgroups["version 2"])
	if counters.end() != nil {
		t.Error("a window ended that was not begun")
	}
	rewrite(t, root, map[string]string{"memory.current": fmt.Sprintln(900 * mib)})
	counters.look()
	rewrite(t, root, map[string]string{"memory.current": fmt.Sprintln(200 * mib)})
	began := counters.begin()
	rewrite(t, data, map[string]string{"segment": strings.Repeat("x", 64<<10)})
	rewrite(t, root, map[string]string{
		"memory.current": fmt.Sprintln(250 * mib),
		"memory.events":  "oom_kill 5\n",
		"cpu.stat":       "usage_usec 3250000\nnr_throttled 6\nthrottled_usec 1750000\n",
		"io.stat":        "8:0 rbytes=5000 wbytes=9\n8:16 rbytes=10 wbytes=1\n9:0 rbytes=6 wbytes=3\n",
	})
	counters.look()
	rewrite(t, root, map[string]string{"memory.current": fmt.Sprintln(60 * mib)})
	growth := counters.end()
	if growth == nil {
		t.Fatal("the window has no figures")
	}
	if growth.Seconds <= 0 || growth.Seconds > 60 || began.IsZero() {
		t.Errorf("the window took %v s since %v", growth.Seconds, began)
	}
	equal(t, "the CPU time", growth.CPUSeconds, new(0.75))
	equal(t, "the throttled time", growth.ThrottledSeconds, new(0.25))
	equal(t, "the number of throttled periods", growth.ThrottledPeriods, new(int64(2)))
	equal(t, "the number of OOM kills", growth.OOMKills, new(int64(2)))
	equal(t, "the peak of the working set within the window", growth.WorkingSetPeak, new(int64(200*mib)))
	equal(t, "the number of read bytes", growth.ReadBytes, new(int64(910)))
	equal(t, "the number of written bytes", growth.WrittenBytes, new(int64(3)))
	equal(t, "the source of the read bytes", growth.ReadSource, new("cgroup"))
	if growth.DataAddedBytes == nil || *growth.DataAddedBytes < 64<<10 || *growth.DataBytes != *growth.DataAddedBytes {
		t.Errorf("the data has %s bytes on disk, %s of them new, expected at least %d", shown(growth.DataBytes), shown(growth.DataAddedBytes), 64<<10)
	}
	if growth.CoresUsable != 0.5 || growth.Restarts != 0 {
		t.Errorf("the container may use %v cores and its server started %d times again, expected 0.5 and 0", growth.CoresUsable, growth.Restarts)
	}
	if counters.end() != nil {
		t.Error("the window ended twice")
	}
}

func TestFirstBytesOfADeviceCountFromZero(t *testing.T) {
	files := map[string]string{"cgroup.controllers": "", "io.stat": ""}
	counters, root, _ := newTestMeter(t, files)
	counters.begin()
	rewrite(t, root, map[string]string{"io.stat": "8:0 rbytes=4096 wbytes=8192\n"})
	growth := counters.end()
	equal(t, "the number of read bytes", growth.ReadBytes, new(int64(4096)))
	equal(t, "the number of written bytes", growth.WrittenBytes, new(int64(8192)))
	equal(t, "the CPU time", growth.CPUSeconds, nil)
}

func TestDecreasedCountOfWrittenBytesIsUnknown(t *testing.T) {
	counters, _, _ := newTestMeter(t, map[string]string{"cgroup.controllers": ""})
	counters.begin()
	*counters.begun.processIO.written += 1 << 40
	growth := counters.end()
	equal(t, "the number of written bytes", growth.WrittenBytes, nil)
	if growth.ReadBytes == nil || *growth.ReadBytes < 0 {
		t.Errorf("the number of read bytes is %s, expected 0 or more", shown(growth.ReadBytes))
	}
	if notes := strings.Join(growth.Notes, "; "); !strings.Contains(notes, "count of written bytes has decreased") {
		t.Errorf("the notes are %q, without the reason", notes)
	}
}

func TestSourceOfTheBytes(t *testing.T) {
	one, two := new(int64(1)), new(int64(2))
	for _, example := range []struct {
		version                   int
		cgroup, processes         counted
		read, written             *int64
		readSource, writtenSource *string
	}{
		{2, counted{one, one}, counted{two, two}, one, one, new("cgroup"), new("cgroup")},
		{1, counted{one, one}, counted{two, two}, one, two, new("cgroup"), new("processes")}, // version 1 misses later writes
		{2, counted{}, counted{two, two}, two, two, new("processes"), new("processes")},
		{1, counted{one, one}, counted{}, one, one, new("cgroup"), new("cgroup")},
		{2, counted{}, counted{}, nil, nil, nil, nil},
	} {
		chosen := (&meter{cgroup: &cgroup{version: example.version}}).choose(example.cgroup, example.processes)
		equal(t, "the number of read bytes", chosen.ReadBytes, example.read)
		equal(t, "the number of written bytes", chosen.WrittenBytes, example.written)
		equal(t, "the source of the read bytes", chosen.ReadSource, example.readSource)
		equal(t, "the source of the written bytes", chosen.WrittenSource, example.writtenSource)
	}
}

func TestLastMessage(t *testing.T) {
	counters, root, _ := newTestMeter(t, cgroups["version 1"])
	counters.begin()
	rewrite(t, root, map[string]string{"cpuacct/cpuacct.usage": "4500000000\n"})
	path := filepath.Join(writeFiles(t, map[string]string{"log": strings.Repeat("earlier ", 1000)}), "log")
	leaveMessage(path, ending{code: 137, signal: "killed"}, counters)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var message struct {
		Message  string `json:"message"`
		ExitCode int    `json:"exit_code"`
		Figures  struct {
			CPUSeconds float64 `json:"cpu_s"`
			ReadBytes  int64   `json:"read_bytes"`
		} `json:"figures"`
		Since struct {
			CPUSeconds float64 `json:"cpu_s"`
			ReadBytes  int64   `json:"read_bytes"`
		} `json:"since_begin"`
	}
	if err := json.Unmarshal(text, &message); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if message.ExitCode != 137 || message.Message != "the server ended by itself: exit code 137 after 0.0 s (signal: killed)" {
		t.Errorf("the message is %q with the exit code %d", message.Message, message.ExitCode)
	}
	if message.Figures.CPUSeconds != 4.5 || message.Since.CPUSeconds != 2 || message.Figures.ReadBytes != 4106 || message.Since.ReadBytes != 0 {
		t.Errorf("the message is %s, expected 4.5 s of CPU time, 2 s of them since begin, and 4106 read bytes before", text)
	}
	missing := filepath.Join(t.TempDir(), "log")
	leaveMessage(missing, ending{}, counters)
	if _, err := os.Stat(missing); !os.IsNotExist(err) {
		t.Errorf("%s exists: %v", missing, err)
	}
}
