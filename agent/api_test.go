package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const testToken = "the token of this test"

// answered is an answer of the API. `problem` is the zero value for a success.
type answered struct {
	status  int
	header  http.Header
	fields  map[string]any
	problem problem
}

// ask sends a request with the right token.
func ask(t *testing.T, handler http.Handler, method, path, body string) answered {
	t.Helper()
	return askAs(t, handler, "Bearer "+testToken, method, path, body)
}

func askAs(t *testing.T, handler http.Handler, authorization, method, path, body string) answered {
	t.Helper()
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	answer := answered{status: recorder.Code, header: recorder.Header()}
	var err error
	if kind := answer.header.Get("Content-Type"); answer.status == 200 && kind == "application/json" {
		err = json.Unmarshal(recorder.Body.Bytes(), &answer.fields)
	} else if kind == "application/problem+json" {
		err = json.Unmarshal(recorder.Body.Bytes(), &answer.problem)
	} else {
		t.Fatalf("%s %s has the status %d and the content type %q", method, path, answer.status, kind)
	}
	if err != nil {
		t.Fatalf("%s %s: %s: %v", method, path, recorder.Body, err)
	}
	return answer
}

// newTestAPI returns the API of a container whose server does not run and whose cgroup has the files of version 2.
func newTestAPI(t *testing.T, data ...string) (handler *api, root string) {
	t.Helper()
	root = writeFiles(t, cgroups["version 2"])
	read := &settings{token: testToken, cgroup: root, data: data}
	server := newServer("/bin/true", []string{"true"}, nil, nil)
	return newAPI(read, server, newMeter(read, server)), root
}

func (a answered) fails(t *testing.T, status int, says string) {
	t.Helper()
	if a.status != status || a.problem.Status != status || !strings.Contains(a.problem.Error(), says) {
		t.Errorf("the answer has the status %d and the problem %+v, expected %d and %q", a.status, a.problem, status, says)
	}
}

func TestOnlyTheVersionIsOpen(t *testing.T) {
	handler, _ := newTestAPI(t)
	for _, authorization := range []string{"", testToken, "Bearer ", "Bearer wrong", "Bearer " + testToken + " ", "bearer " + testToken} {
		if answer := askAs(t, handler, authorization, "GET", "/v1/health", ""); answer.fields["version"] != version {
			t.Errorf("the version is %v, expected %s", answer.fields["version"], version)
		}
		for _, path := range []string{"/v1/figures", "/v1/begin", "/v1/health/", "/nowhere"} {
			answer := askAs(t, handler, authorization, "POST", path, "")
			answer.fails(t, 401, "Authorization: Bearer TOKEN")
			if answer.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("the header WWW-Authenticate is %q", answer.header.Get("WWW-Authenticate"))
			}
		}
	}
}

func TestBadRequests(t *testing.T) {
	handler, _ := newTestAPI(t)
	for _, example := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/v1/nothing", "", 404, version},
		{"GET", "/v1/cold", "", 405, "send POST /v1/cold"},
		{"POST", "/v1/figures", "", 405, "send GET /v1/figures"},
		{"POST", "/v1/begin", "{", 400, "stop_timeout_s"},
		{"POST", "/v1/begin", "{} {}", 400, "stop_timeout_s"},
		{"POST", "/v1/begin", "[1]", 400, "JSON object"},
		{"POST", "/v1/begin", `{"stop_timeout": 1}`, 400, "stop_timeout_s"},
		{"POST", "/v1/begin", `{"stop_timeout_s": 0}`, 400, "at most 3600"},
		{"POST", "/v1/begin", `{"ready_timeout_s": 3600.5}`, 400, "at most 3600"},
		{"POST", "/v1/begin", strings.Repeat(" ", maxBody+1), 413, "at most 4096 bytes"},
	} {
		answer := ask(t, handler, example.method, example.path, example.body)
		answer.fails(t, example.status, example.says)
		if allowed := answer.header.Get("Allow"); (allowed != "") != (example.status == 405) {
			t.Errorf("%s %s has the header Allow: %q", example.method, example.path, allowed)
		}
	}
	for _, body := range []string{"", " \n", "{}", `{"stop_timeout_s": 3600, "ready_timeout_s": 0.1}`, strings.Repeat(" ", maxBody)} {
		if answer := ask(t, handler, "POST", "/v1/begin", body); answer.status != 200 {
			t.Errorf("a body of %d bytes has the status %d: %+v", len(body), answer.status, answer.problem)
		}
	}
}

func TestTimeoutsOfARequest(t *testing.T) {
	for body, expected := range map[string]limits{"": {60, 300}, `{"stop_timeout_s": 1.5}`: {1.5, 300}, `{"ready_timeout_s": 2}`: {60, 2}} {
		read, err := readLimits(httptest.NewRequest("POST", "/v1/cold", strings.NewReader(body)))
		if err != nil || read != expected {
			t.Errorf("%q gives %+v and the error %v, expected %+v", body, read, err, expected)
		}
	}
	if half := (limits{0.5, 0.25}); half.stop() != 500*time.Millisecond || half.ready() != 250*time.Millisecond {
		t.Errorf("the durations are %v and %v, expected 500 ms and 250 ms", half.stop(), half.ready())
	}
}

func TestAnswersOfTheMeter(t *testing.T) {
	handler, root := newTestAPI(t, t.TempDir())
	ask(t, handler, "POST", "/v1/end", "").fails(t, 409, "ask /v1/begin first")
	if answer := ask(t, handler, "GET", "/v1/cpu", ""); answer.fields["cpu_s"] != 2.5 || answer.fields["boot_id"] == "" {
		t.Errorf("the CPU time is %v, expected 2.5 s and the boot's ID", answer.fields)
	}
	figures := ask(t, handler, "GET", "/v1/figures", "").fields
	for name, expected := range map[string]any{"version": version, "cpu_s": 2.5, "memory_working_set_bytes": 150.0 * mib, "oom_kills": 3.0,
		"read_bytes": 4106.0, "read_bytes_source": "cgroup", "written_bytes": 10.0, "data_bytes": 0.0, "server_pid": nil} {
		if figure, present := figures[name]; figure != expected || !present {
			t.Errorf("the figure %s is %v, expected %v", name, figure, expected)
		}
	}
	began := ask(t, handler, "POST", "/v1/begin", "").fields["began_at"]
	if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(began)); err != nil || time.Since(at) > time.Minute {
		t.Errorf("the window began at %v: %v", began, err)
	}
	rewrite(t, root, map[string]string{"cpu.stat": "usage_usec 3000000\n"})
	window := ask(t, handler, "POST", "/v1/end", "").fields
	for name, expected := range map[string]any{"cpu_s": 0.5, "cores_usable": 0.5, "throttled_s": nil, "read_bytes": 0.0, "data_added_bytes": 0.0} {
		if figure, present := window[name]; figure != expected || !present {
			t.Errorf("the figure %s of the window is %v, expected %v", name, figure, expected)
		}
	}
	ask(t, handler, "POST", "/v1/end", "").fails(t, 409, "the container has started anew since then")
}

func TestUnknownDataAndReadiness(t *testing.T) {
	handler, _ := newTestAPI(t)
	for _, request := range []string{"GET /v1/resident", "POST /v1/lukewarm", "POST /v1/cold"} {
		method, path, _ := strings.Cut(request, " ")
		ask(t, handler, method, path, "").fails(t, 409, "set STOREBENCH_AGENT_DATA")
	}
	ask(t, handler, "POST", "/v1/start", "").fails(t, 409, "set STOREBENCH_AGENT_READY")
	ask(t, handler, "POST", "/v1/stop", "").fails(t, 409, "ask /v1/start first")
}

func TestPagesOfTheData(t *testing.T) {
	data := writeFiles(t, map[string]string{"one": strings.Repeat("x", 5000), "two": "xyz"})
	handler, _ := newTestAPI(t, data, filepath.Join(data, "later"))
	pages := ask(t, handler, "GET", "/v1/resident", "").fields
	if pages["total_bytes"] != 5003.0 || pages["files"] != 2.0 || pages["resident_bytes"] != 5003.0 {
		t.Errorf("the data has %v, expected 5003 resident bytes in 2 files", pages)
	}
	dropped := ask(t, handler, "POST", "/v1/lukewarm", "").fields
	if dropped["total_bytes"] != 5003.0 || dropped["files"] != 2.0 || dropped["resident_before_bytes"] != 5003.0 {
		t.Errorf("the drop has %v, expected 5003 bytes in 2 files, all of them resident before", dropped)
	}
}

func TestServer(t *testing.T) {
	handler, gate := newTestServer(t, "")
	server := handler.server
	ask(t, handler, "POST", "/v1/start", `{"ready_timeout_s": 0.01}`).fails(t, 504, "It is left running")
	rewrite(t, filepath.Dir(gate), map[string]string{"gate": ""})
	if err := server.await(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	ask(t, handler, "POST", "/v1/start", "").fails(t, 409, "the server runs already")
	first := ask(t, handler, "GET", "/v1/figures", "").fields
	if pid, _, _ := server.state(); first["server_pid"] != float64(pid) || first["restarts"] != 0.0 {
		t.Errorf("the server has the figures %v, expected the PID %d and no restart", first, pid)
	}

	ask(t, handler, "POST", "/v1/begin", "")
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	going := make(chan answered)
	go func() {
		defer close(going)
		going <- ask(t, handler, "POST", "/v1/cold", "")
	}()
	for deadline := time.Now().Add(20 * time.Second); ask(t, handler, "GET", "/v1/figures", "").fields["restarts"] != 1.0; {
		if time.Now().After(deadline) {
			t.Fatal("the server did not start again")
		}
		time.Sleep(5 * time.Millisecond)
	}
	ask(t, handler, "POST", "/v1/lukewarm", "").fails(t, 409, "/v1/cold, for ")
	rewrite(t, filepath.Dir(gate), map[string]string{"gate": ""})
	cold := <-going
	if cold.fields["exit_code"] != float64(serverCode) || cold.fields["killed"] != false {
		t.Errorf("the server ended with %v, expected the exit code %d without KILL", cold.fields, serverCode)
	}
	if cold.fields["resident_before_bytes"] != 5000.0 || cold.fields["total_bytes"] != 5000.0 || cold.fields["files"] != 1.0 {
		t.Errorf("the data was %v, expected a resident file of 5000 bytes", cold.fields)
	}
	if restarts := ask(t, handler, "POST", "/v1/end", "").fields["restarts"]; restarts != 1.0 {
		t.Errorf("the window has %v restarts, expected 1", restarts)
	}

	if end := ask(t, handler, "POST", "/v1/stop", "").fields; end["exit_code"] != float64(serverCode) || end["killed"] != false {
		t.Errorf("the server ended with %v, expected the exit code %d without KILL", end, serverCode)
	}
	ask(t, handler, "POST", "/v1/stop", "").fails(t, 409, "the server does not run")
	if ready, _ := ask(t, handler, "POST", "/v1/start", "").fields["ready_s"].(float64); ready <= 0 {
		t.Errorf("the server answered after %v s", ready)
	}

	pid, _, _ := server.state()
	syscall.Kill(pid, syscall.SIGKILL)
	select {
	case end := <-server.left:
		if end.code != 128+int(syscall.SIGKILL) || end.signal != "killed" || end.asked {
			t.Errorf("the server ended with %+v, expected an unasked KILL", end)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the agent does not know that the server ended")
	}
	ask(t, handler, "POST", "/v1/start", "").fails(t, 503, "the container is about to end")
}

func TestLimitOfOpenConnections(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	listener := &limitedListener{inner, make(chan struct{}, 2)}
	accepted := make(chan net.Conn, 3)
	go func() {
		for range 3 {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- connection
		}
	}()
	for range 3 {
		connection, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
	}
	first, second := <-accepted, <-accepted
	defer second.Close()
	select {
	case <-accepted:
		t.Fatal("a third connection was accepted, expected two at a time")
	case <-time.After(100 * time.Millisecond):
	}
	first.Close()
	first.Close() // frees a single place
	select {
	case third := <-accepted:
		third.Close()
	case <-time.After(20 * time.Second):
		t.Fatal("the closed connection's place is not free")
	}
}
