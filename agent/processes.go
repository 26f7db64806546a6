package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// descendants returns the living descendants of a process.
func descendants(root int) []int {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	children := map[int][]int{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		// PID (NAME) STATE PARENT ...; the name may contain any character.
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		children[parent] = append(children[parent], pid)
	}
	found := children[root]
	for next := 0; next < len(found); next++ {
		found = append(found, children[found[next]]...)
	}
	return found
}

// stopAll ends processes, and returns whether any had to be killed.
func stopAll(processes []int, timeout time.Duration) bool {
	signal, killed := syscall.SIGTERM, false
	deadline := time.Now().Add(timeout)
	for rounds := 0; len(processes) > 0; rounds++ {
		if !killed && time.Now().After(deadline) {
			signal, killed, rounds = syscall.SIGKILL, true, 0
			deadline = time.Now().Add(killPatience)
		}
		if rounds == 0 || killed {
			for _, pid := range processes {
				syscall.Kill(pid, signal)
			}
		}
		if killed && time.Now().After(deadline) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		processes = descendants(os.Getpid())
	}
	return killed
}

// processIO returns the bytes that the server's processes, including ended processes, have read from disk and submitted for writing.
func processIO() (read, written int64, err error) {
	for tries := 0; tries < 3; tries++ {
		// The agent's own counters come first: reaping a child adds the child's counts to its parent's.
		read, written, err = ioOf("self")
		for _, pid := range descendants(os.Getpid()) {
			if err != nil {
				break
			}
			var r, w int64
			r, w, err = ioOf(strconv.Itoa(pid))
			read, written = read+r, written+w
		}
		if err == nil || os.IsPermission(err) {
			break
		}
	}
	return read, written, err
}

func ioOf(process string) (read, written int64, err error) {
	text, err := os.ReadFile("/proc/" + process + "/io")
	if err != nil {
		return 0, 0, err
	}
	table := parseTable(text)
	read, ok := table["read_bytes:"]
	if !ok {
		return 0, 0, fmt.Errorf("/proc/%s/io has no read_bytes", process)
	}
	return read, table["write_bytes:"] - table["cancelled_write_bytes:"], nil
}
