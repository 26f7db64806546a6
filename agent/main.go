// The program that watches a container. As the container's entry point, it either starts a server as its child process, reports the
// container's resource usage over the pod network, and on request drops the server's files from the page cache and causes faults; or it
// starts the program of an attempt, and adds figures about the node to the program's result.
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

// version equals the version of the Python package that calls the agent: a test compares both versions.
const version = "1.0.0"

const usage = `usage: agent -- COMMAND ARGUMENT...     start the server, watch it, and end with its exit code
       agent pod COMMAND ARGUMENT...    start the program of an attempt, watch its node during its operation, add the figures to its
                                        result, and end with its exit code
       agent network PORT               for the fault "partition": cut the pod off from all others, except for the agent's port, when the
                                        agent of the server's container asks. Needs root and the capability NET_ADMIN
       agent install FILE               copy this program to FILE
       agent version

Variables of the environment with ` + "`--`" + `, which the server does not see:
  STOREBENCH_AGENT_TOKEN     the token that requests must send (required)
  STOREBENCH_AGENT_PORT      the port of the API (default 9110)
  STOREBENCH_AGENT_DATA      the folders of the server's data, separated by ':'
  STOREBENCH_AGENT_READY     the check that the server answers: tcp:PORT or http://127.0.0.1:PORT/PATH
  STOREBENCH_AGENT_COMMAND_… a shell command for a maintenance of the server, such as STOREBENCH_AGENT_COMMAND_COMPACT
  STOREBENCH_AGENT_WHOLE     a shell command that exits with 0 when all copies of the data are whole, and with 3 if the data has no copies
  STOREBENCH_AGENT_MESSAGE   an existing file for a last message (default /dev/termination-log)
  STOREBENCH_AGENT_CGROUP    the mount point of the cgroup (default /sys/fs/cgroup)
`

// Exit codes of the agent itself. The last two follow the shell's convention.
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
	case len(arguments) == 2 && arguments[0] == "network":
		os.Exit(runNetwork(arguments[1]))
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
	// One thread at a time and early garbage collection: the agent must not take CPU and memory from the server that it measures.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(50)
	// The kernel gives orphans to the agent, even where it is not the first process of its container.
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
	// The kernel does the same when a container's first process ends.
	for _, pid := range descendants(os.Getpid()) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return end.code
}

// lookUp finds the program of this name. If the program cannot be started, lookUp prints the reason and the advice, and returns the exit
// code.
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

// install copies this program to a file atomically.
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
	// Any user of the server's container must be able to run the program.
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
