package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestPhasesOfTheOutput(t *testing.T) {
	text := "phase: prepare\nno phase: operation\nphase: operation\r\nphase:operation\n" + strings.Repeat("x", 100_000) +
		"phase: other\nphase: " + strings.Repeat("y", 1000) + "\nphase: incomplete"
	expected := []string{"prepare", "operation", strings.Repeat("y", lineBytes-len(mark))}
	for name, reader := range map[string]io.Reader{
		"whole":         strings.NewReader(text),
		"byte for byte": iotest.OneByteReader(strings.NewReader(text)),
		"with the end":  iotest.DataErrReader(strings.NewReader(text)),
	} {
		t.Run(name, func(t *testing.T) {
			var copied bytes.Buffer
			var phases []string
			pass(reader, &copied, func(phase string) { phases = append(phases, phase) })
			if !slices.Equal(phases, expected) {
				t.Errorf("the phases are %q, expected %q", phases, expected)
			}
			if copied.String() != text {
				t.Errorf("%d bytes were copied, expected the %d bytes of the output", copied.Len(), len(text))
			}
		})
	}
}

func TestPhaseIsToldBeforeItsLineIsCopied(t *testing.T) {
	var copied bytes.Buffer
	told := -1
	pass(strings.NewReader("phase: operation\n"), &copied, func(string) { told = copied.Len() })
	if told != 0 {
		t.Errorf("%d bytes were copied when the phase was told, expected 0", told)
	}
}

func TestWatchAddsUpTheWindowsOfTheOperation(t *testing.T) {
	proc, own := writeFiles(t, node), writeFiles(t, cgroups["version 2"])
	watch := newPodWatch(podSettings{proc: proc, cgroup: own})
	atCPU := func(microseconds string) { // the container's CPU time so far
		rewrite(t, own, map[string]string{"cpu.stat": "usage_usec " + microseconds + "\nnr_throttled 4\nthrottled_usec 1500000\n"})
	}
	watch.phase("prepare")
	atCPU("3000000")
	watch.phase(operation)
	atCPU("3500000")
	watch.phase(operation) // a phase that begins again ends first
	atCPU("4000000")
	watch.phase("verify")
	atCPU("9000000")
	watch.phase(operation)
	atCPU("9250000")
	rewrite(t, own, map[string]string{"memory.current": "99\n"})
	watch.finish(readNode(proc, watch.cgroup))
	watch.finish(readNode(proc, watch.cgroup))
	figures := watch.figures()
	equal(t, "the CPU time of the three windows", figures.Window.OwnCPU, new(1.25))
	equal(t, "the CPU time of the container", figures.CPUSeconds, new(9.25))
	equal(t, "the peak of the working set", figures.WorkingSetPeak, new(int64(150*mib)))
	equal(t, "the peak of the memory", figures.MemoryPeak, new(int64(300*mib)))
	equal(t, "the number of OOM kills", figures.OOMKills, new(int64(3)))
}

func TestWatchWithoutAnOperationHasNoWindow(t *testing.T) {
	watch := newPodWatch(podSettings{proc: writeFiles(t, node), cgroup: writeFiles(t, cgroups["version 1"])})
	watch.phase("prepare")
	watch.finish(readNode(watch.proc, watch.cgroup))
	if figures := watch.figures(); figures != (podFigures{}) {
		t.Errorf("the figures are %+v, expected none", figures)
	}
}

func TestFiguresAreAddedToTheResult(t *testing.T) {
	figures := podFigures{Window: &window{Seconds: 1.5, Cores: 2}, CPUSeconds: new(2.5), MemoryPeak: new(int64(7))}
	tooLong := `{"text": "` + strings.Repeat("x", messageBytes-50) + `"}`
	for _, example := range []struct {
		name, result string
		added        podFigures
		expected     string // "": as before
		fails        string
	}{
		{"new figures", `{"status": "verified"}`, figures,
			`{"status": "verified", "cpu_s": 2.5, "memory_peak_bytes": 7, "window":
				{"seconds": 1.5, "cores": 2, "cpu_s": null, "throttled_periods": null, "stalled_s": null, "node_cpu_s": null}}`, ""},
		{"figures of the program", `{"cpu_s": 0.125, "window": {"of": "<its own>"}, "memory_peak_bytes": null}`, figures,
			`{"cpu_s": 0.125, "window": {"of": "<its own>"}, "memory_peak_bytes": 7}`, ""},
		{"no operation", `{"status": "verified"}`, podFigures{}, "", "the program printed no line `phase: operation`"},
		{"no room", tooLong, figures, "", "more than 4096 bytes"},
		{"no result", "Killed", figures, "", ""},
		{"a result that is no object", "[1]", figures, "", ""},
		{"null", "null", figures, "", ""},
		{"an empty file", "", figures, "", ""},
	} {
		t.Run(example.name, func(t *testing.T) {
			path := filepath.Join(writeFiles(t, map[string]string{"message": example.result}), "message")
			err := addFigures(path, example.added)
			if example.fails == "" && err != nil || example.fails != "" && (err == nil || !strings.Contains(err.Error(), example.fails)) {
				t.Errorf("the error is %v, expected %q", err, example.fails)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if example.expected == "" {
				if string(text) != example.result {
					t.Errorf("the file has %q, expected it as before", text)
				}
				return
			}
			if actual, expected := parsed(t, text), parsed(t, []byte(example.expected)); !maps.Equal(actual, expected) {
				t.Errorf("the result is %v, expected %v", actual, expected)
			}
			if bytes.Contains(text, []byte(`\u003c`)) {
				t.Errorf("the result %s has escaped characters, which only take room", text)
			}
		})
	}
}

func TestFiguresWithoutAResultMakeNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "message")
	if err := addFigures(path, podFigures{Window: &window{}}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("%s exists: %v", path, err)
	}
}

// parsed returns the fields of a JSON object, each as compact JSON.
func parsed(t *testing.T, text []byte) map[string]string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	compact := map[string]string{}
	for name, value := range fields {
		field, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		compact[name] = string(field)
	}
	return compact
}
