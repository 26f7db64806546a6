package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process of this program with these variables is the server of a test.
const (
	serverAddress = "TEST_SERVER_ADDRESS" // the server listens here
	serverData    = "TEST_SERVER_DATA"    // the server writes this file
	serverGate    = "TEST_SERVER_GATE"    // the server waits for this file before it listens
	serverFamily  = "TEST_SERVER_FAMILY"  // the server starts a child and an orphan, which write their PIDs into this folder
	serverCode    = 7                     // the server's exit code after TERM
	familyRole    = "TEST_FAMILY_ROLE"    // the role of a process that the server has started
)

func TestMain(m *testing.M) {
	if address := os.Getenv(serverAddress); address != "" && os.Getenv(podPart) == "" {
		serveTest(address, os.Getenv(serverData), os.Getenv(serverGate))
	}
	if part := os.Getenv(podPart); part != "" {
		os.Unsetenv(podPart)
		os.Exit(runPart(part))
	}
	if role := os.Getenv(familyRole); role != "" {
		liveTest(role, os.Getenv(serverFamily))
	}
	os.Exit(m.Run())
}

// serveTest accepts connections until TERM, once the file `gate` exists.
func serveTest(address, data, gate string) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	if folder := os.Getenv(serverFamily); folder != "" {
		begin("child", folder)
		begin("parent", folder).Wait() // its child loses its parent
	}
	err := os.WriteFile(data, []byte(strings.Repeat("x", 5000)), 0o644)
	for _, missing := os.Stat(gate); missing != nil; _, missing = os.Stat(gate) {
		time.Sleep(5 * time.Millisecond)
	}
	listener, failure := net.Listen("tcp", address)
	if err == nil {
		err = failure
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go http.Serve(listener, http.NotFoundHandler())
	<-signals
	os.Exit(serverCode)
}

// begin starts a process of the server's family in a session of its own.
func begin(role, folder string) *exec.Cmd {
	process := exec.Command("/proc/self/exe")
	process.Env = []string{familyRole + "=" + role, serverFamily + "=" + folder}
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := process.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return process
}

// liveTest is a process of the server's family, which does not end at TERM.
func liveTest(role, folder string) {
	signal.Ignore(syscall.SIGTERM)
	if role == "parent" {
		begin("orphan", folder)
		os.Exit(0)
	}
	file := filepath.Join(folder, role)
	if err := os.WriteFile(file+".new", []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		os.Exit(1)
	}
	os.Rename(file+".new", file)
	time.Sleep(time.Minute)
	os.Exit(0)
}

// newTestServer returns the API of an agent that reaps its children, and the file that the server waits for. The server does not run yet.
// Only one such agent may exist at a time, and no other child: it reaps every child of this process.
func newTestServer(t *testing.T, family string) (handler *api, gate string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	check, err := parseReadiness("tcp:" + address[len("127.0.0.1:"):])
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, gate := t.TempDir(), filepath.Join(t.TempDir(), "gate")
	environment := []string{serverAddress + "=" + address, serverData + "=" + filepath.Join(data, "segment"), serverGate + "=" + gate,
		serverFamily + "=" + family}
	server := newServer(program, []string{program}, environment, check)
	read := &settings{token: testToken, cgroup: writeFiles(t, cgroups["version 2"]), data: []string{data}}
	handler = newAPI(read, server, newMeter(read, server))
	syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0)
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		server.reap(children)
	}()
	t.Cleanup(func() {
		for deadline := time.Now().Add(20 * time.Second); hasChildren() && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			signalAll(descendants(os.Getpid()), syscall.SIGKILL)
		}
		signal.Stop(children)
		close(children)
		<-reaped
	})
	return handler, gate
}

// writeFiles writes files below a new folder and returns the folder.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	rewrite(t, root, files)
	return root
}

// rewrite writes files below a folder. A file that exists keeps its inode, as the kernel's files do.
func rewrite(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// equal fails the test if the values differ. Two pointers are equal if both are nil or their values are equal.
func equal[value comparable](t *testing.T, what string, actual, expected *value) {
	t.Helper()
	if (actual == nil) != (expected == nil) || actual != nil && *actual != *expected {
		t.Errorf("%s is %s, expected %s", what, shown(actual), shown(expected))
	}
}

func shown[value any](pointer *value) string {
	if pointer == nil {
		return "missing"
	}
	return fmt.Sprint(*pointer)
}
