package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
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
	serverCode    = 7                     // the server's exit code after TERM
)

func TestMain(m *testing.M) {
	if address := os.Getenv(serverAddress); address != "" {
		serveTest(address, os.Getenv(serverData), os.Getenv(serverGate))
	}
	os.Exit(m.Run())
}

// serveTest accepts connections until TERM, once the file `gate` exists.
func serveTest(address, data, gate string) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
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
