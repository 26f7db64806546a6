package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	mark      = "phase: "   // begins a line; the name of a phase follows
	operation = "operation" // this phase is watched
	// The part of a line that is kept, long enough for the longest phase name.
	lineBytes = 256
	// The size of a termination message: Kubernetes cuts off the remainder.
	messageBytes = 4096
	// Children of the program may hold its output open after its end.
	outputPatience = time.Second
)

// podSettings are the files that podWatch reads and writes. Tests use other files.
type podSettings struct{ proc, cgroup, message string }

func readPodSettings() podSettings {
	found := podSettings{proc: "/proc", cgroup: "/sys/fs/cgroup", message: "/dev/termination-log"}
	for name, value := range map[string]*string{"STOREBENCH_AGENT_PROC": &found.proc, "STOREBENCH_AGENT_CGROUP": &found.cgroup,
		"STOREBENCH_TERMINATION_LOG": &found.message} {
		if text := os.Getenv(name); text != "" {
			*value = text
		}
	}
	return found
}

// runPod starts the program of an attempt, watches the node while the program's operation lasts, adds what it saw to the program's
// result, and returns the program's exit code.
func runPod(command []string) int {
	path, code := lookUp("program", command[0], "write the program's path behind `pod`")
	if code != 0 {
		return code
	}
	runtime.GOMAXPROCS(1) // the agent must not take CPU from the program that it measures
	debug.SetGCPercent(50)
	settings := readPodSettings()
	watch := newPodWatch(settings)
	program := &exec.Cmd{Path: path, Args: command, Stdin: os.Stdin, Stderr: os.Stderr}
	output, inlet, err := os.Pipe()
	if err != nil {
		say("cannot read the program's output: %v", err)
		return exitCannotRun
	}
	program.Stdout = inlet
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2)
	if err := program.Start(); err != nil {
		say("cannot start the program: %v", err)
		return exitCannotRun
	}
	inlet.Close()
	go func() {
		for received := range signals {
			program.Process.Signal(received)
		}
	}()
	go watch.sample()
	read := make(chan struct{})
	go func() {
		pass(output, os.Stdout, watch.phase)
		close(read)
	}()
	program.Wait()
	end := readNode(watch.proc, watch.cgroup)
	closedWithin(read, outputPatience) // the program's last lines may still be in the pipe
	watch.finish(end)
	if err := addFigures(settings.message, watch.figures()); err != nil {
		say("%v", err)
	}
	status := program.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// pass copies the program's output. Where a line names a phase, pass calls `told` before it copies the line.
func pass(from io.Reader, to io.Writer, told func(phase string)) {
	var line []byte // the beginning of an incomplete line
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		for chunk := buffer[:n]; len(chunk) > 0; {
			part, rest, complete := bytes.Cut(chunk, []byte("\n"))
			if room := lineBytes - len(line); len(part) > room {
				part = part[:room]
			}
			line = append(line, part...)
			if complete {
				if text := string(line); strings.HasPrefix(text, mark) {
					told(strings.TrimSpace(text[len(mark):]))
				}
				line = line[:0]
			}
			chunk = rest
		}
		if n > 0 {
			to.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// podFigures are the figures that are added to a result, named as in docs/protocol.md. Nil: the kernel does not report the figure.
type podFigures struct {
	Window           *window  `json:"window,omitempty"`
	CPUSeconds       *float64 `json:"cpu_s,omitempty"`
	ThrottledSeconds *float64 `json:"throttled_s,omitempty"`
	ThrottledPeriods *int64   `json:"throttled_periods,omitempty"`
	OOMKills         *int64   `json:"oom_kills,omitempty"`
	WorkingSetPeak   *int64   `json:"memory_working_set_peak_bytes,omitempty"`
	MemoryPeak       *int64   `json:"memory_peak_bytes,omitempty"`
	MemoryLimit      *int64   `json:"memory_limit_bytes,omitempty"`
}

// podWatch watches the node and this container.
type podWatch struct {
	proc   string
	cgroup *cgroup

	mutex  sync.Mutex // guards the fields below
	buffer []byte
	peak   *int64
	begun  *nodeCounters // nil: no operation goes on
	window *window       // nil: there was no operation
	at     podFigures    // at the end of the operation
}

func newPodWatch(settings podSettings) *podWatch {
	return &podWatch{proc: settings.proc, cgroup: newCgroup(settings.cgroup), buffer: make([]byte, 16<<10)}
}

func (w *podWatch) sample() {
	for range time.NewTicker(sampleInterval).C {
		w.mutex.Lock()
		w.look()
		w.mutex.Unlock()
	}
}

func (w *podWatch) look() {
	if now := w.cgroup.workingSet(w.buffer); now != nil && (w.peak == nil || *now > *w.peak) {
		w.peak = now
	}
}

// phase records the beginning of a phase, which ends the previous phase. The windows of an operation that begins again are added up.
func (w *podWatch) phase(name string) {
	now := readNode(w.proc, w.cgroup)
	w.finish(now)
	if name == operation {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.begun = now
	}
}

// finish ends the current operation, if any.
func (w *podWatch) finish(now *nodeCounters) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.begun == nil {
		return
	}
	w.window, w.begun = w.window.with(w.begun, now), nil
	w.look()
	w.at = podFigures{OOMKills: w.cgroup.oomKills(), WorkingSetPeak: w.peak}
	w.at.CPUSeconds, w.at.ThrottledSeconds, w.at.ThrottledPeriods = w.cgroup.cpu()
	w.at.MemoryPeak, w.at.MemoryLimit = w.cgroup.memory()
}

func (w *podWatch) figures() podFigures {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	found := w.at
	found.Window = w.window
	return found
}

// addFigures adds figures to the result in this file, if the file has a result. It keeps the figures that the program reports itself.
func addFigures(path string, found podFigures) error {
	text, err := os.ReadFile(path)
	var result map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &result) != nil || result == nil {
		return nil // the program wrote no result; the DAG reports that
	}
	if found.Window == nil {
		return errors.New("the attempt is not judged: the program printed no line `" + mark + operation + "`")
	}
	added := map[string]json.RawMessage{}
	all, err := json.Marshal(found)
	if err == nil {
		err = json.Unmarshal(all, &added)
	}
	if err != nil {
		return err
	}
	for name, value := range result {
		if _, is := added[name]; !is || string(value) != "null" {
			added[name] = value
		}
	}
	whole, err := encoded(added)
	if err != nil {
		return err
	}
	if len(whole) > messageBytes {
		return errors.New("the attempt is not judged: with what was seen of its node, the result would have more than 4096 bytes")
	}
	// The file is a mount point: it cannot be replaced by renaming.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(whole)
	return firstError(err, file.Close())
}

func encoded(content any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(content)
	return bytes.TrimSpace(text.Bytes()), err
}
