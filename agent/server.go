package main

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	prSetChildSubreaper = 36
	// The time that the kernel may need to end a killed process that waits for a disk.
	killPatience = 30 * time.Second
)

// ending is the end of the agent: the server's exit code, and whether a signal asked for the end.
type ending struct {
	code   int
	signal string // the signal that ended the server, or ""
	asked  bool
	ran    time.Duration
}

// server is the process that the container was made for. All fields below `mutex` are guarded by it.
type server struct {
	path        string
	command     []string
	environment []string
	ready       *readiness
	left        chan ending   // tells the agent to end
	leaving     chan struct{} // closed when the agent is told to end, or earlier, when the container is told to end

	mutex     sync.Mutex
	pid       int           // 0: the server does not run
	ended     chan struct{} // closed when the last started process has ended
	stopping  bool          // the API has asked for the server's end
	task      *task         // nil: no command runs beside the server
	told      bool          // a signal has asked for the end of the container
	lastEnd   ending
	starts    int
	startedAt time.Time
}

func newServer(path string, command, environment []string, ready *readiness) *server {
	return &server{path: path, command: command, environment: environment, ready: ready,
		left: make(chan ending, 1), leaving: make(chan struct{})}
}

// start starts the server, and does not wait until it answers.
func (s *server) start() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.isLeaving() {
		return errLeaving
	}
	if s.pid != 0 {
		return conflict("the server runs already", "ask /v1/stop first")
	}
	// The server gets a process group of its own: a terminal's signal to all processes reaches it only once, by the agent.
	pid, err := syscall.ForkExec(s.path, s.command, &syscall.ProcAttr{
		Env: s.environment, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		return failure("the server cannot be started", "%s: %v", s.path, err)
	}
	s.pid, s.ended, s.stopping, s.startedAt = pid, make(chan struct{}), false, time.Now()
	s.starts++
	return nil
}

// stop ends the server and its descendants as the end of the container would: TERM first, KILL after the timeout.
func (s *server) stop(timeout time.Duration) (stopped, error) {
	return s.down(timeout, func(pid int) { syscall.Kill(pid, syscall.SIGTERM) })
}

// kill ends the server and all its descendants by KILL at once. Parents come first: no parent can replace a killed child.
func (s *server) kill() (stopped, error) {
	return s.down(0, func(pid int) {
		syscall.Kill(pid, syscall.SIGKILL)
		signalAll(descendants(os.Getpid()), syscall.SIGKILL)
	})
}

// down ends the server and its descendants: it calls `first` with the server's PID, and kills the processes that are left after the timeout.
func (s *server) down(timeout time.Duration, first func(pid int)) (stopped, error) {
	began := time.Now()
	s.mutex.Lock()
	pid, err := s.current()
	if err != nil {
		s.mutex.Unlock()
		return stopped{}, err
	}
	ended := s.ended
	s.stopping = true
	result := stopped{signalled: time.Now()}
	first(pid)
	s.mutex.Unlock()

	if !closedWithin(ended, timeout) {
		result.Killed = true
		s.signal(pid, syscall.SIGKILL)
		if !closedWithin(ended, killPatience) {
			return result, failure("the server cannot be stopped",
				"process %d has not ended %v after KILL: it waits for a disk, perhaps; look at the node", pid, killPatience)
		}
	}
	killed, err := stopAll(timeout - time.Since(began))
	if err != nil {
		return result, err
	}
	result.Killed = result.Killed || killed
	s.mutex.Lock()
	result.ExitCode = s.lastEnd.code
	s.mutex.Unlock()
	result.StopSeconds = time.Since(began).Seconds()
	return result, nil
}

// current returns the server's PID, or an error if the server does not run or the container is about to end. The caller holds the mutex.
func (s *server) current() (pid int, err error) {
	if s.isLeaving() {
		return 0, errLeaving
	}
	if s.pid == 0 {
		return 0, conflict("the server does not run", "ask /v1/start first")
	}
	return s.pid, nil
}

func (s *server) running() (pid int, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.current()
}

// rest waits for `duration`, or until the end of the agent begins.
func (s *server) rest(duration time.Duration) { closedWithin(s.leaving, duration) }

// await waits until the server answers. It fails if the server ends first, or after the timeout.
func (s *server) await(timeout time.Duration) error {
	for deadline := time.Now().Add(timeout); ; {
		answer := s.ready.answers()
		if err := s.isUp(); err != nil || answer == nil {
			return err
		}
		if time.Now().After(deadline) {
			return &problem{504, "the server does not answer", fmt.Sprintf(
				"not within %v: %v. It is left running: look at the container's log, or give a longer ready_timeout_s", timeout, answer)}
		}
		time.Sleep(lookInterval)
	}
}

// isUp returns nil if the server runs and nobody has asked for its end.
func (s *server) isUp() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.told {
		return errLeaving
	}
	if s.pid == 0 {
		return failure("the server ended before it answered", "%s: look at the container's log", s.lastEnd)
	}
	return nil
}

// signal sends a signal to the process if it is still the server.
func (s *server) signal(pid int, signal syscall.Signal) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.pid == pid {
		syscall.Kill(pid, signal)
	}
}

// forward forwards signals to the server. INT and TERM tell the container to end: then the agent ends after the server.
func (s *server) forward(signals <-chan os.Signal) {
	for received := range signals {
		signal := received.(syscall.Signal)
		s.mutex.Lock()
		if (signal == syscall.SIGTERM || signal == syscall.SIGINT) && !s.told {
			s.told = true
			s.leave()
		}
		if s.pid != 0 {
			syscall.Kill(s.pid, signal)
		} else if s.told {
			s.end()
		}
		s.mutex.Unlock()
	}
}

// reap reaps all ended children until `children` is closed: the server, and orphans that the kernel gives to the first process of a
// container.
func (s *server) reap(children <-chan os.Signal) {
	for {
		s.mutex.Lock() // until a process is reaped, no other process gets its PID
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if pid > 0 && pid == s.pid {
			s.serverEnded(status)
		} else if pid > 0 && s.task != nil && pid == s.task.pid {
			s.taskEnded(status)
		}
		s.mutex.Unlock()
		if err != syscall.EINTR && pid <= 0 {
			if _, open := <-children; !open {
				return
			}
		}
	}
}

func (s *server) serverEnded(status syscall.WaitStatus) {
	s.lastEnd = ending{code: exitCode(status), ran: time.Since(s.startedAt)}
	if status.Signaled() {
		s.lastEnd.signal = status.Signal().String()
	}
	s.pid = 0
	if s.told || !s.stopping {
		s.leave()
		s.end()
	}
	close(s.ended)
}

// exitCode returns the exit code of an ended process: 128 plus the signal's number, if a signal ended the process.
func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

func (s *server) isLeaving() bool {
	select {
	case <-s.leaving:
		return true
	default:
		return false
	}
}

func (s *server) leave() {
	if !s.isLeaving() {
		close(s.leaving)
	}
}

func (s *server) end() {
	end := s.lastEnd
	end.asked = s.told
	select {
	case s.left <- end:
	default:
	}
}

// state returns the server's figures: its PID, the number of restarts, and its start time.
func (s *server) state() (pid, restarts int, startedAt time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.pid, s.starts - 1, s.startedAt
}

func (e ending) String() string {
	text := fmt.Sprintf("exit code %d after %.1f s", e.code, e.ran.Seconds())
	if e.signal != "" {
		text += " (signal: " + e.signal + ")"
	}
	return text
}

func closedWithin(channel <-chan struct{}, timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-channel:
		return true
	case <-timer.C:
		return false
	}
}
