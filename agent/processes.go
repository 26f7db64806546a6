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
		if state, parent := statOf(pid); state != stateEnded {
			children[parent] = append(children[parent], pid)
		}
	}
	found := children[root]
	for next := 0; next < len(found); next++ {
		found = append(found, children[found[next]]...)
	}
	return found
}

// States of a process, as /proc shows them.
const (
	stateEnded  = 'Z' // the process is a zombie, or is gone
	statePaused = 'T'
)

// statOf returns the state of a process, and the PID of its parent.
func statOf(pid int) (state byte, parent int) {
	// PID (NAME) STATE PARENT ...; the name may contain any character.
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if err != nil || len(fields) < 2 || fields[0][0] == 'X' {
		return stateEnded, 0
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent
}

func signalAll(processes []int, signal syscall.Signal) {
	for _, pid := range processes {
		syscall.Kill(pid, signal)
	}
}

// hasChildren asks the kernel: a single reading of /proc can miss a process whose parent ends meanwhile.
func hasChildren() bool {
	const all, exited, leaveZombie = 0, 4, 0x01000000 // P_ALL, WEXITED, WNOWAIT
	for {
		_, _, code := syscall.Syscall6(syscall.SYS_WAITID, all, 0, 0, exited|leaveZombie|syscall.WNOHANG, 0, 0)
		if code != syscall.EINTR {
			return code != syscall.ECHILD
		}
	}
}

// stopAll ends all descendants of the agent: TERM first, KILL after the timeout. Returns whether any had to be killed.
func stopAll(timeout time.Duration) (killed bool, err error) {
	signal := syscall.SIGTERM
	deadline := time.Now().Add(timeout)
	for rounds := 0; hasChildren(); rounds++ {
		processes := descendants(os.Getpid())
		if !killed && time.Now().After(deadline) {
			signal, killed, rounds = syscall.SIGKILL, true, 0
			deadline = time.Now().Add(killPatience)
		}
		if rounds == 0 || killed {
			signalAll(processes, signal)
		}
		if killed && time.Now().After(deadline) {
			return killed, failure("the server cannot be stopped",
				"the processes %v have not ended %v after KILL: they wait for a disk, or belong to another user", processes, killPatience)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return killed, nil
}

// pauseAll stops all descendants of the agent by STOP. Two readings of /proc in a row must find each process stopped: a process that still
// ran during a reading may have a child that the reading has missed.
func pauseAll(told func() bool) error {
	deadline := time.Now().Add(killPatience)
	for readings := 0; readings < 2; readings++ {
		for _, pid := range descendants(os.Getpid()) {
			if state, _ := statOf(pid); state == statePaused || state == stateEnded {
				continue
			}
			readings = -1
			if err := syscall.Kill(pid, syscall.SIGSTOP); err == syscall.EPERM {
				return failure("the server cannot be paused", "process %d belongs to another user: run the container as the server's user", pid)
			}
		}
		if told() {
			return errLeaving
		}
		if time.Now().After(deadline) {
			return failure("the server cannot be paused", "a process has not stopped within %v: it waits for a disk, perhaps", killPatience)
		}
		if readings < 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// continueAll continues all descendants of the agent, and returns when none is stopped.
func continueAll() {
	// Each process gets CONT, whatever its state: CONT cancels a STOP that waits until the process has left the disk.
	signalAll(descendants(os.Getpid()), syscall.SIGCONT)
	deadline := time.Now().Add(killPatience)
	for readings := 0; readings < 2; readings++ {
		for _, pid := range descendants(os.Getpid()) {
			if state, _ := statOf(pid); state == statePaused {
				readings = -1
				syscall.Kill(pid, syscall.SIGCONT)
			}
		}
		if time.Now().After(deadline) {
			say("a process of the server stays stopped")
			return
		}
		time.Sleep(time.Millisecond)
	}
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
