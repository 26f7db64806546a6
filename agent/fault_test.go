package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// diskSize is the size of the file system that a test mounts.
const diskSize = 4 << 20

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// startFamily starts the server of a test with its child and its orphan, and returns the PIDs of all three, the server's first.
func startFamily(t *testing.T) (handler *api, pids []int) {
	t.Helper()
	folder := t.TempDir()
	handler, gate := newTestServer(t, folder)
	rewrite(t, filepath.Dir(gate), map[string]string{"gate": ""})
	if answer := ask(t, handler, "POST", "/v1/start", ""); answer.status != 200 {
		t.Fatalf("the server does not start: %+v", answer.problem)
	}
	server, _, _ := handler.server.state()
	pids = []int{server}
	for _, role := range []string{"child", "orphan"} {
		wait(t, "the process "+role, func() bool { _, err := os.Stat(filepath.Join(folder, role)); return err == nil })
		text, _ := os.ReadFile(filepath.Join(folder, role))
		pid, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if _, parent := statOf(pids[2]); parent != os.Getpid() {
		t.Fatalf("the orphan's parent is %d, expected the agent", parent)
	}
	return handler, pids
}

// states returns a letter for the state of each process.
func states(pids []int) string {
	all := ""
	for _, pid := range pids {
		state, _ := statOf(pid)
		all += string(state)
	}
	return all
}

// inOrder fails the test if the moments of a fault are missing or not in order, or if the fault was shorter than `seconds`.
func inOrder(t *testing.T, answer answered, seconds float64) {
	t.Helper()
	var after [3]float64
	var at [3]time.Time
	for number, name := range []string{"began", "ended", "ready"} {
		after[number], _ = answer.fields[name+"_after_s"].(float64)
		text, _ := answer.fields[name+"_at"].(string)
		at[number], _ = time.Parse(time.RFC3339Nano, text)
	}
	if after[0] <= 0 || after[1] < after[0]+seconds || after[2] <= after[1] || time.Since(at[0]) > time.Minute || at[2].Before(at[0]) {
		t.Errorf("the answer has the moments %v and the problem %+v", answer.fields, answer.problem)
	}
}

func TestKillEndsAllProcessesAndStartsTheServer(t *testing.T) {
	handler, before := startFamily(t)
	answer := ask(t, handler, "POST", "/v1/fault", `{"fault": "kill", "for_s": 0.2}`)
	inOrder(t, answer, 0.2)
	if filled, present := answer.fields["filled_bytes"]; answer.fields["exit_code"] != 137.0 || filled != nil || !present {
		t.Errorf("the answer is %v, expected the exit code 137 and no filled bytes", answer.fields)
	}
	if found := states(before); found != "ZZZ" {
		t.Errorf("the processes are %s after the kill, expected all to be gone", found)
	}
	if pid, restarts, _ := handler.server.state(); pid == 0 || pid == before[0] || restarts != 1 {
		t.Errorf("the server has the PID %d after %d restarts, expected another PID than %d", pid, restarts, before[0])
	}
	if handler.server.isLeaving() {
		t.Error("the agent is about to end, expected it to stay")
	}
}

func TestRestartAsksFirst(t *testing.T) {
	handler, before := startFamily(t)
	// The child and the orphan do not end at TERM.
	answer := ask(t, handler, "POST", "/v1/fault", `{"fault": "restart", "stop_timeout_s": 0.2}`)
	inOrder(t, answer, 0)
	if answer.fields["exit_code"] != float64(serverCode) || states(before) != "ZZZ" {
		t.Errorf("the server ended with %v and its processes are %s, expected the exit code %d and no process", answer.fields, states(before), serverCode)
	}
	ask(t, handler, "POST", "/v1/stop", `{"stop_timeout_s": 0.2}`)
	for _, kind := range []string{"kill", "restart", "pause", "partition", "disk_full"} {
		ask(t, handler, "POST", "/v1/fault", `{"fault": "`+kind+`"}`).fails(t, 409, "the server does not run")
	}
}

func TestServerThatDoesNotAnswerAfterAFault(t *testing.T) {
	handler, gate := newTestServer(t, "")
	rewrite(t, filepath.Dir(gate), map[string]string{"gate": ""})
	ask(t, handler, "POST", "/v1/start", "")
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	ask(t, handler, "POST", "/v1/fault", `{"fault": "kill", "ready_timeout_s": 0.1}`).fails(t, 504, "It is left running")
	if pid, _, _ := handler.server.state(); pid == 0 {
		t.Error("the server does not run, expected it to go on")
	}
}

func TestPauseContinuesThoughTheClientHangsUp(t *testing.T) {
	handler, pids := startFamily(t)
	listening := httptest.NewServer(handler)
	defer listening.Close()
	hanging, hangUp := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(hanging, "POST", listening.URL+"/v1/fault", strings.NewReader(`{"fault": "pause", "for_s": 2}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+testToken)
	gone := make(chan error)
	go func() {
		_, err := http.DefaultClient.Do(request)
		gone <- err
	}()
	wait(t, "all processes pause", func() bool { return states(pids) == "TTT" })
	hangUp()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatalf("the request ended with %v, expected it to be cancelled", err)
	}
	ask(t, handler, "POST", "/v1/begin", "").fails(t, 409, "/v1/fault, for ")
	wait(t, "all processes continue", func() bool { return !strings.Contains(states(pids), "T") })
	wait(t, "the pause ends", func() bool { return ask(t, handler, "POST", "/v1/begin", "").status == 200 })

	answer := ask(t, handler, "POST", "/v1/fault", `{"fault": "pause", "for_s": 0.1}`)
	inOrder(t, answer, 0.1)
	if code, present := answer.fields["exit_code"]; code != nil || !present {
		t.Errorf("the answer is %v, expected no exit code", answer.fields)
	}
	if found := states(pids); strings.ContainsAny(found, "TZ") {
		t.Errorf("the processes are %s after the pause, expected all to run", found)
	}
}

// endContainerDuring asks for a fault of an hour, sends TERM when the fault has its effect, and checks that the agent answers with 503.
func endContainerDuring(t *testing.T, handler *api, name string, hasEffect func() bool) {
	t.Helper()
	signals := make(chan os.Signal, 1)
	t.Cleanup(func() { close(signals) })
	go handler.server.forward(signals)
	going := make(chan answered)
	go func() { going <- ask(t, handler, "POST", "/v1/fault", `{"fault": "`+name+`", "for_s": 3600}`) }()
	wait(t, "the "+name+" has its effect", hasEffect)
	signals <- syscall.SIGTERM
	(<-going).fails(t, 503, "the container is about to end")
}

func TestEndOfTheContainerContinuesAPausedServer(t *testing.T) {
	handler, pids := startFamily(t)
	endContainerDuring(t, handler, "pause", func() bool { return states(pids) == "TTT" })
	if found := states(pids); strings.Contains(found, "T") {
		t.Errorf("the processes are %s, expected none to be paused", found)
	}
	select {
	case end := <-handler.server.left:
		if end.code != serverCode || !end.asked {
			t.Errorf("the server ended with %+v, expected the exit code %d after TERM", end, serverCode)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not end")
	}
}

func TestEndOfTheContainerWhileTheServerIsDown(t *testing.T) {
	handler, pids := startFamily(t)
	endContainerDuring(t, handler, "kill", func() bool { return states(pids) == "ZZZ" && !hasChildren() })
	if end := <-handler.server.left; !end.asked {
		t.Errorf("the agent ends with %+v, expected an end that was asked for", end)
	}
}

func TestDisksThatMayNotBeFilled(t *testing.T) {
	data := t.TempDir()
	node := filepath.Join(t.TempDir(), "termination-log")
	rewrite(t, filepath.Dir(node), map[string]string{"termination-log": ""})
	for _, example := range []struct {
		folders, node []string
		limit         int64
		says          string
	}{
		{[]string{data}, []string{"/nowhere", node}, fillLimit, data + " is in the same file system as " + node},
		{[]string{data}, nil, 0, "more than 0 bytes are free"},
		{[]string{data, "/proc"}, nil, fillLimit, "a single volume for " + data + " and /proc"},
		{[]string{data + "/nowhere"}, nil, fillLimit, "no such file or directory"},
	} {
		if err := mayFill(example.folders, example.node, example.limit); err == nil || !strings.Contains(err.Error(), example.says) {
			t.Errorf("filling %v gives the error %v, expected %q", example.folders, err, example.says)
		}
	}
}

// TestDiskFull runs once more in namespaces of its own, where it may mount a small file system.
func TestDiskFull(t *testing.T) {
	if folder := os.Getenv("TEST_MOUNT"); folder != "" {
		if err := syscall.Mount("test", folder, "tmpfs", 0, "size="+strconv.Itoa(diskSize)); err != nil {
			t.Fatal(err)
		}
		testDiskFull(t, folder)
		return
	}
	inner := exec.Command("/proc/self/exe", "-test.run=^TestDiskFull$", "-test.v")
	inner.Env = append(os.Environ(), "TEST_MOUNT="+t.TempDir())
	inner.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	output, err := inner.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("this machine gives no user namespace: %v", err)
	}
	if err != nil || !strings.Contains(string(output), "--- PASS: TestDiskFull") {
		t.Errorf("%v: %s", err, output)
	}
}

func testDiskFull(t *testing.T, folder string) {
	handler, gate := newTestServer(t, "")
	rewrite(t, filepath.Dir(gate), map[string]string{"gate": ""})
	ask(t, handler, "POST", "/v1/start", "")
	handler.data = []string{folder}
	write := func() error { return os.WriteFile(filepath.Join(folder, "file"), make([]byte, 1<<20), 0o644) }

	handler.nodeFiles = append(handler.nodeFiles, folder)
	ask(t, handler, "POST", "/v1/fault", `{"fault": "disk_full"}`).fails(t, 409, "a full disk would stop other pods")
	handler.nodeFiles = handler.nodeFiles[:2]
	handler.fillLimit = diskSize / 2
	ask(t, handler, "POST", "/v1/fault", `{"fault": "disk_full"}`).fails(t, 409, "more than 2097152 bytes are free")
	handler.fillLimit = fillLimit

	if err := write(); err != nil {
		t.Fatal(err)
	}
	answer := ask(t, handler, "POST", "/v1/fault", `{"fault": "disk_full", "for_s": 0.1}`)
	inOrder(t, answer, 0.1)
	if filled, _ := answer.fields["filled_bytes"].(float64); filled != diskSize-1<<20 {
		t.Errorf("the answer is %v, expected 3 MiB to be filled", answer.fields)
	}
	if err := write(); err != nil {
		t.Errorf("the disk is still full: %v", err)
	}

	signals := make(chan os.Signal, 1)
	defer close(signals)
	go handler.server.forward(signals)
	going := make(chan answered)
	go func() { going <- ask(t, handler, "POST", "/v1/fault", `{"fault": "disk_full", "for_s": 3600}`) }()
	wait(t, "the disk is full", func() bool {
		var space syscall.Statfs_t
		return syscall.Statfs(folder, &space) == nil && space.Bavail == 0
	})
	if err := os.WriteFile(filepath.Join(folder, "other"), []byte("x"), 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a write to the full disk gives %v", err)
	}
	if found, _ := filepath.Glob(filepath.Join(folder, ".storebench*")); len(found) > 0 {
		t.Errorf("the server sees %v, expected a file without a name", found)
	}
	signals <- syscall.SIGTERM
	(<-going).fails(t, 503, "the container is about to end")
	os.Remove(filepath.Join(folder, "other"))
	if err := os.WriteFile(filepath.Join(folder, "other"), make([]byte, 2<<20), 0o644); err != nil {
		t.Errorf("the disk is still full: %v", err)
	}
}

func TestBadFaults(t *testing.T) {
	handler, _ := newTestAPI(t)
	for body, says := range map[string]string{
		"":                                       "ask for kill, restart, pause, partition or disk_full",
		"{}":                                     "ask for kill, restart, pause, partition or disk_full",
		`{"fault": "none"}`:                      "ask for kill, restart, pause, partition or disk_full",
		`{"fault": "KILL"}`:                      "ask for kill, restart, pause, partition or disk_full",
		`{"fault": 1}`:                           faultExample,
		`["kill"]`:                               faultExample,
		`{"fault": "kill", "for": 1}`:            faultExample,
		`{"fault": "kill", "for_s": -0.1}`:       "at least 0 and at most 3600 seconds",
		`{"fault": "kill", "for_s": 3600.1}`:     "at least 0 and at most 3600 seconds",
		`{"fault": "kill", "for_s": "5"}`:        faultExample,
		`{"fault": "kill", "for_s": NaN}`:        faultExample,
		`{"fault": "kill", "for_s": 1e999}`:      faultExample,
		`{"fault": "kill", "stop_timeout_s": 0}`: "more than 0 and at most 3600",
	} {
		ask(t, handler, "POST", "/v1/fault", body).fails(t, 400, says)
	}
	ask(t, handler, "GET", "/v1/fault", "").fails(t, 405, "send POST /v1/fault")
	ask(t, handler, "POST", "/v1/stop", `{"fault": "kill"}`).fails(t, 400, "stop_timeout_s")
	ask(t, handler, "POST", "/v1/fault", `{"fault": "kill"}`).fails(t, 409, "set STOREBENCH_AGENT_READY")
}
