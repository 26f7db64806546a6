package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"time"
)

const (
	faultExample = `{"fault": "kill", "for_s": 5}`
	fillLimit    = 16 << 30 // bytes: a larger file system takes too long to fill, and may belong to the node
	fillChunk    = 64 << 20 // bytes per call of fallocate: the agent can be told to end between two calls
	fillBuffer   = 1 << 20
)

// fault is the body of a request that causes a fault.
type fault struct {
	limits
	Kind string  `json:"fault"`
	For  float64 `json:"for_s"` // seconds that the server is down, paused or cut off, or the disk is full; the most seconds of a command
}

func (f fault) duration() time.Duration { return time.Duration(f.For * float64(time.Second)) }

// effect is the part of a fault's answer that the kind of fault decides.
type effect struct {
	began, ended time.Time
	exitCode     *int   // of the server; nil: the fault does not end the server
	filled       *int64 // bytes; nil: the fault does not fill the disk
}

// caused is the answer after a fault. The seconds count from the receipt of the request.
type caused struct {
	BeganAfter  float64 `json:"began_after_s"` // the signal is sent, the server is cut off, the disk is full, or the command starts
	EndedAfter  float64 `json:"ended_after_s"` // the server is started, continued or reconnected, the disk has space, or the command ends
	ReadyAfter  float64 `json:"ready_after_s"` // the server answers
	BeganAt     string  `json:"began_at"`
	EndedAt     string  `json:"ended_at"`
	ReadyAt     string  `json:"ready_at"`
	ExitCode    *int    `json:"exit_code"`
	FilledBytes *int64  `json:"filled_bytes"`
}

var faults = map[string]func(*api, fault) (effect, error){
	"kill": func(a *api, asked fault) (effect, error) {
		end, err := a.server.kill()
		return a.startLater(asked, end, err)
	},
	"restart": func(a *api, asked fault) (effect, error) {
		end, err := a.server.stop(asked.stop())
		return a.startLater(asked, end, err)
	},
	"pause":     (*api).pause,
	"partition": (*api).partition,
	"disk_full": (*api).fillDisk,
}

func (a *api) readFault(request *http.Request) (fault, error) {
	read := fault{limits: defaultLimits}
	if err := readBody(request, &read, faultExample); err != nil {
		return read, err
	}
	if a.causeOf(read.Kind) == nil {
		return read, &problem{400, "the fault is not known", "ask for kill, restart, pause, partition or disk_full, or for a command that the variables " +
			prefix + commandPrefix + "… declare, such as " + faultExample}
	}
	if !(read.For >= 0 && read.For <= maxTimeout) {
		return read, &problem{400, "for_s is out of range", fmt.Sprintf("give at least 0 and at most %.0f seconds", maxTimeout)}
	}
	return read, read.check()
}

// causeOf returns the function that causes a fault; nil for an unknown fault.
func (a *api) causeOf(kind string) func(*api, fault) (effect, error) {
	if cause := faults[kind]; cause != nil {
		return cause
	}
	if a.commands[kind] != "" {
		return (*api).maintain
	}
	return nil
}

// fault causes a fault, ends it, and waits until the server answers. It does so also if the client hangs up meanwhile.
func (a *api) fault(asked fault) (any, error) {
	received := time.Now()
	if err := a.needReady(); err != nil {
		return nil, err
	}
	done, err := a.causeOf(asked.Kind)(a, asked)
	if err == nil {
		err = a.server.await(asked.ready())
	}
	if err != nil {
		return nil, err
	}
	ready := time.Now()
	return caused{
		BeganAfter: done.began.Sub(received).Seconds(), EndedAfter: done.ended.Sub(received).Seconds(),
		ReadyAfter: ready.Sub(received).Seconds(), BeganAt: moment(done.began), EndedAt: moment(done.ended), ReadyAt: moment(ready),
		ExitCode: done.exitCode, FilledBytes: done.filled}, nil
}

// startLater starts the ended server when the fault's time is over.
func (a *api) startLater(asked fault, end stopped, err error) (effect, error) {
	if err != nil {
		return effect{}, err
	}
	a.server.rest(asked.duration())
	err = a.server.start()
	return effect{began: end.signalled, ended: time.Now(), exitCode: &end.ExitCode}, err
}

// pause stops all processes of the server, and continues them when the fault's time is over or the container gets TERM.
func (a *api) pause(asked fault) (done effect, err error) {
	pid, err := a.server.running()
	if err != nil {
		return done, err
	}
	defer func() {
		continueAll()
		done.ended = time.Now()
	}()
	a.server.signal(pid, syscall.SIGSTOP)
	done.began = time.Now()
	if err = pauseAll(a.server.isLeaving); err == nil {
		a.server.rest(asked.duration())
	}
	return done, err
}

// fillDisk fills the file system of the data, and frees the space when the fault's time is over or the container gets TERM.
func (a *api) fillDisk(asked fault) (done effect, err error) {
	if err = a.needData(); err != nil {
		return done, err
	}
	if _, err = a.server.running(); err != nil {
		return done, err
	}
	if err = mayFill(a.data, a.nodeFiles, a.fillLimit); err != nil {
		return done, err
	}
	// The file has no name: the server does not see it, and the kernel removes it however the agent ends.
	file, err := os.CreateTemp(a.data[0], ".storebench-fault-*")
	if err == nil {
		err = os.Remove(file.Name())
	}
	if err != nil {
		return done, cannotFill(err)
	}
	defer func() {
		if failed := file.Close(); failed != nil {
			say("the file that fills the disk cannot be closed: %v", failed)
		}
		done.ended = time.Now()
	}()
	filled, err := fill(file, a.fillLimit, a.server.isLeaving)
	done.began, done.filled = time.Now(), &filled
	if err == nil {
		a.server.rest(asked.duration())
	}
	return done, err
}

func cannotFill(err error) error {
	return failure("the disk cannot be filled", "%v: run the container as the user that owns the data's folder", err)
}

// mayFill refuses a file system that is the node's own or has more free space than the limit. `nodeFiles` are files on the node's disk.
func mayFill(folders, nodeFiles []string, limit int64) error {
	var data syscall.Stat_t
	for number, folder := range folders {
		var stat syscall.Stat_t
		if err := syscall.Stat(folder, &stat); err != nil {
			return cannotFill(fmt.Errorf("%s: %w", folder, err))
		}
		if number > 0 && stat.Dev != data.Dev {
			return conflict("the data is in several file systems", fmt.Sprintf("give the server a single volume for %s and %s", folders[0], folder))
		}
		data = stat
	}
	for _, path := range nodeFiles {
		var stat syscall.Stat_t
		if syscall.Stat(path, &stat) == nil && stat.Dev == data.Dev {
			return conflict("the data is on the node's own disk", fmt.Sprintf("%s is in the same file system as %s: a full disk would stop "+
				"other pods. Give the server a volume with a file system of its own, or choose another fault", folders[0], path))
		}
	}
	var space syscall.Statfs_t
	if err := syscall.Statfs(folders[0], &space); err != nil {
		return cannotFill(err)
	}
	if free := int64(space.Bavail) * space.Bsize; free > limit {
		return tooLarge(limit)
	}
	return nil
}

func tooLarge(limit int64) error {
	return conflict("the data's file system is too large to be filled",
		fmt.Sprintf("more than %d bytes are free: give the server a smaller volume, or choose another fault", limit))
}

// fill grows the file until its file system is full. Returns the bytes of the file on disk.
func fill(file *os.File, limit int64, told func() bool) (int64, error) {
	zeros := make([]byte, fillBuffer)
	for chunk := int64(fillChunk); ; {
		var stat syscall.Stat_t
		if err := syscall.Fstat(int(file.Fd()), &stat); err != nil {
			return 0, cannotFill(err)
		}
		filled := stat.Blocks * 512
		if told() {
			return filled, errLeaving
		}
		if filled > limit {
			return filled, tooLarge(limit)
		}
		var err error
		if chunk >= fillBuffer {
			err = syscall.Fallocate(int(file.Fd()), 0, stat.Size, chunk)
		} else {
			// The last bytes are written: fallocate refuses a chunk that fits only in part.
			_, err = file.WriteAt(zeros, stat.Size)
		}
		full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
		switch {
		case err == nil || err == syscall.EINTR:
		case full && chunk < fillBuffer:
			err = syscall.Fstat(int(file.Fd()), &stat)
			return stat.Blocks * 512, err
		case full:
			chunk /= 2
		case chunk >= fillBuffer && (err == syscall.EOPNOTSUPP || err == syscall.ENOSYS):
			chunk = 0 // the file system has no fallocate
		default:
			return filled, cannotFill(err)
		}
	}
}
