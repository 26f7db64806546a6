// The program that watches a container. It is the container's entry: it starts a server as its child, and tells on the pod network what
// the container has used. It can also empty the page cache of the server's files. Or it starts the program of an attempt, and adds to the
// program's result what the node was like.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
)

// Also the version of the Python package that asks it: a test compares them.
const version = "0.1.0"

const usage = `usage: agent -- COMMAND ARGUMENT...     start the server, watch it, and end with its exit code
       agent pod COMMAND ARGUMENT...    start the program of an attempt, watch its node while its operation lasts, add that to its
                                        result, and end with its exit code
       agent install FILE               copy this program to FILE
       agent version

Variables of the environment with ` + "`--`" + `, which the server does not see:
  STOREBENCH_AGENT_TOKEN     the token that requests must carry (required)
  STOREBENCH_AGENT_PORT      where it listens (default 9110)
  STOREBENCH_AGENT_DATA      the folders of the server's data, with ':' between them
  STOREBENCH_AGENT_READY     how to see that the server answers: tcp:PORT or http://127.0.0.1:PORT/PATH
  STOREBENCH_AGENT_MESSAGE   the file for a last message (default /dev/termination-log), if it is there
  STOREBENCH_AGENT_CGROUP    where the cgroup is mounted (default /sys/fs/cgroup)
`

// Exit codes of the agent itself. The last two are those of a shell.
const (
	exitBadInput   = 2
	exitCannotRun  = 126
	exitNoSuchFile = 127
)

func say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "storebench-agent: "+format+"\n", values...)
}

func main() {
	arguments := os.Args[1:]
	switch {
	case len(arguments) >= 2 && arguments[0] == "--":
		os.Exit(run(arguments[1:]))
	case len(arguments) >= 2 && arguments[0] == "pod":
		os.Exit(runPod(arguments[1:]))
	case len(arguments) == 2 && arguments[0] == "install":
		if err := install(arguments[1]); err != nil {
			say("%v", err)
			os.Exit(1)
		}
	case len(arguments) == 1 && arguments[0] == "version":
		fmt.Println(version)
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(exitBadInput)
	}
}

func run(command []string) int {
	settings, err := readSettings(os.Environ())
	if err != nil {
		say("%v", err)
		return exitBadInput
	}
	path, code := lookUp("server", command[0], "write the image's own entry and command behind `--`")
	if code != 0 {
		return code
	}
	// One thread at a time and early collections: the agent must not take from the server what it measures.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(50)
	// Where the agent is not the first process of its container, orphans come to it nevertheless.
	syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0)

	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", settings.port))
	if err != nil {
		say("cannot listen: %v: give it another port in STOREBENCH_AGENT_PORT", err)
		return exitBadInput
	}
	server := newServer(path, command, settings.childEnvironment, settings.ready)
	meter := newMeter(settings, server)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGWINCH)
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	if err := server.start(); err != nil {
		say("%v", err)
		return exitCannotRun
	}
	go server.reap(children)
	go server.forward(signals)
	go meter.sample()
	api := newAPI(settings, server, meter)
	go api.serve(listener)

	end := <-server.left
	if !end.asked {
		leaveMessage(settings.message, end, meter)
	}
	api.shutdown()
	// As the kernel does when a container's first process ends.
	for _, pid := range descendants(os.Getpid()) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return end.code
}

// lookUp finds the program of this name. If it cannot be started, lookUp says so, with advice, and returns the exit code.
func lookUp(what, name, advice string) (path string, code int) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, 0
	}
	say("cannot start the %s: %v: %s", what, err, advice)
	if errors.Is(err, os.ErrPermission) {
		return "", exitCannotRun
	}
	return "", exitNoSuchFile
}

// install copies this program to a file, as a whole or not at all.
func install(target string) error {
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name the file, such as %s", target, filepath.Join(target, "agent"))
	}
	source, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer source.Close()
	temporary, err := os.CreateTemp(filepath.Dir(target), ".agent-*")
	if err != nil {
		return fmt.Errorf("cannot install: %w: mount a volume there that this container may write", err)
	}
	defer os.Remove(temporary.Name())
	_, err = io.Copy(temporary, source)
	// Whatever user the server's container has, it must be able to run it.
	err = firstError(err, temporary.Chmod(0o755), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), target)
	}
	if err != nil {
		return fmt.Errorf("cannot install: %w", err)
	}
	return nil
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
