package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

const (
	shell      = "/bin/sh"
	tailLength = 400         // bytes of a failed command's output that the answer has
	lastOutput = time.Second // for the output of a command that has ended: a process that it left behind may hold the pipe
)

// task is a command that runs beside the server. The fields below `ended` are written before `ended` is closed.
type task struct {
	pid     int
	ended   chan struct{}
	endedAt time.Time
	code    int
}

// maintain runs the topology's command for a maintenance of the server, for at most the fault's time.
func (a *api) maintain(asked fault) (done effect, err error) {
	if _, err = a.server.running(); err != nil {
		return done, err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return done, err
	}
	output := &tail{}
	written := make(chan struct{})
	go func() {
		defer reader.Close()
		defer close(written)
		io.Copy(io.MultiWriter(os.Stderr, output), reader)
	}()
	done.began = time.Now()
	running, err := a.server.startTask(a.commands[asked.Kind], writer)
	writer.Close()
	if err != nil {
		return done, err
	}
	if err = a.server.awaitTask(running, asked); err != nil {
		return done, err
	}
	done.ended = running.endedAt
	if running.code == 0 {
		return done, nil
	}
	closedWithin(written, lastOutput)
	reader.Close()
	<-written
	return done, failure("the command has failed", "%s ended with the exit code %d: %s", asked.Kind, running.code, output)
}

// startTask starts a command of the shell with the server's environment, and does not wait for the end of the command.
func (s *server) startTask(command string, output *os.File) (*task, error) {
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer nothing.Close()
	s.mutex.Lock() // until the task is known, its end is not reaped
	defer s.mutex.Unlock()
	if s.task != nil {
		return nil, conflict("another command runs beside the server", "ask again when it has ended")
	}
	pid, err := syscall.ForkExec(shell, []string{shell, "-c", command}, &syscall.ProcAttr{
		Env: s.environment, Files: []uintptr{nothing.Fd(), output.Fd(), output.Fd()}, Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		return nil, failure("the command cannot be started", "%s: %v", shell, err)
	}
	s.task = &task{pid: pid, ended: make(chan struct{})}
	return s.task, nil
}

// awaitTask waits until the command ends, for at most the fault's time. It kills the command afterwards, or if the container gets TERM.
func (s *server) awaitTask(running *task, asked fault) error {
	timer := time.NewTimer(asked.duration())
	defer timer.Stop()
	var err error
	select {
	case <-running.ended:
		return nil
	case <-s.leaving:
		err = errLeaving
	case <-timer.C:
		err = &problem{504, "the command does not end", fmt.Sprintf("%s was killed after %v: give a longer for_s", asked.Kind, asked.duration())}
	}
	syscall.Kill(-running.pid, syscall.SIGKILL)
	closedWithin(running.ended, killPatience)
	return err
}

// taskEnded records the end of the command. The caller holds the mutex.
func (s *server) taskEnded(status syscall.WaitStatus) {
	s.task.code, s.task.endedAt = exitCode(status), time.Now()
	close(s.task.ended)
	s.task = nil
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(more []byte) (int, error) {
	t.kept = append(t.kept, more...)
	t.kept = t.kept[max(0, len(t.kept)-tailLength):]
	return len(more), nil
}

func (t *tail) String() string { return strings.Join(strings.Fields(string(t.kept)), " ") }
