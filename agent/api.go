package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	maxBody        = 4 << 10
	maxHeader      = 8 << 10
	maxConnections = 16
	maxTimeout     = 3600.0
)

// problem is the error in an answer (RFC 9457): what is wrong, and what to do.
type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func (p *problem) Error() string { return p.Title + ": " + p.Detail }

var errLeaving error = &problem{503, "the container is about to end", "wait for the next one, and ask that"}

func conflict(title, detail string) *problem { return &problem{409, title, detail} }

func failure(title, format string, values ...any) *problem {
	return &problem{500, title, fmt.Sprintf(format, values...)}
}

// limits is the body of a request that stops or starts the server.
type limits struct {
	StopTimeout  float64 `json:"stop_timeout_s"`
	ReadyTimeout float64 `json:"ready_timeout_s"`
}

func (l limits) stop() time.Duration  { return time.Duration(l.StopTimeout * float64(time.Second)) }
func (l limits) ready() time.Duration { return time.Duration(l.ReadyTimeout * float64(time.Second)) }

var defaultLimits = limits{StopTimeout: 60, ReadyTimeout: 300}

func (l limits) check() error {
	for _, value := range []float64{l.StopTimeout, l.ReadyTimeout} {
		if !(value > 0 && value <= maxTimeout) {
			return &problem{400, "a timeout is out of range", fmt.Sprintf("give more than 0 and at most %.0f seconds", maxTimeout)}
		}
	}
	return nil
}

type stopped struct {
	StopSeconds float64 `json:"stop_s"`
	ExitCode    int     `json:"exit_code"`
	Killed      bool    `json:"killed"` // the server ended only by KILL
	signalled   time.Time
}

type started struct {
	ReadySeconds float64 `json:"ready_s"` // from the server's start until it answers
}

type dropped struct {
	DropSeconds       float64 `json:"drop_s"`
	ResidentBefore    int64   `json:"resident_before_bytes"`
	ResidentAfterDrop int64   `json:"resident_after_drop_bytes"`
	TotalBytes        int64   `json:"total_bytes"`
	Files             int     `json:"files"`
}

type cold struct {
	dropped
	stopped
	started
	ResidentAfter int64 `json:"resident_after_bytes"` // when the server answers: starting reads files again
}

type route struct {
	method string
	alone  bool // the request is an operation: only one runs at a time
	open   bool // the request needs no token
	answer func(limits) (any, error)
	cause  func(fault) (any, error) // instead of `answer`, for a request whose body names a fault
}

type api struct {
	token    [sha256.Size]byte
	server   *server
	meter    *meter
	data     []string
	commands map[string]string // for maintenance, by name
	whole    string            // the command that tells whether all copies are whole
	routes   map[string]route
	http     *http.Server

	nodeFiles []string // files on the node's own disk, which no fault may fill
	fillLimit int64    // bytes

	operation sync.Mutex // held while an operation runs
	mutex     sync.Mutex // guards `name`, the operation's name
	name      string
	since     time.Time
}

func newAPI(settings *settings, server *server, meter *meter) *api {
	a := &api{token: sha256.Sum256([]byte(settings.token)), server: server, meter: meter, data: settings.data, commands: settings.commands, whole: settings.whole,
		nodeFiles: []string{"/", "/etc/hosts", settings.message}, fillLimit: fillLimit}
	a.routes = map[string]route{
		"/v1/health":   {method: "GET", open: true, answer: a.health},
		"/v1/cpu":      {method: "GET", answer: func(limits) (any, error) { return meter.cpu(), nil }},
		"/v1/figures":  {method: "GET", answer: func(limits) (any, error) { return meter.read(), nil }},
		"/v1/resident": {method: "GET", answer: a.resident},
		"/v1/copies":   {method: "GET", answer: a.copies},
		"/v1/begin":    {method: "POST", alone: true, answer: a.begin},
		"/v1/end":      {method: "POST", alone: true, answer: a.end},
		"/v1/cold":     {method: "POST", alone: true, answer: a.cold},
		"/v1/lukewarm": {method: "POST", alone: true, answer: a.lukewarm},
		"/v1/stop":     {method: "POST", alone: true, answer: func(l limits) (any, error) { return server.stop(l.stop()) }},
		"/v1/start":    {method: "POST", alone: true, answer: a.start},
		"/v1/fault":    {method: "POST", alone: true, cause: a.fault},
	}
	a.http = &http.Server{Handler: a, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0)}
	a.http.SetKeepAlivesEnabled(false)
	return a
}

func (a *api) serve(listener net.Listener) {
	err := a.http.Serve(&limitedListener{listener, make(chan struct{}, maxConnections)})
	if !errors.Is(err, http.ErrServerClosed) {
		say("no longer listening: %v", err)
	}
}

// shutdown waits for requests in progress.
func (a *api) shutdown() {
	soon, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	a.http.Shutdown(soon)
}

func (a *api) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	body, err := a.respond(request)
	status, kind := 200, "application/json"
	if err != nil {
		var known *problem
		if !errors.As(err, &known) {
			known = failure("the agent has failed", "%v", err)
		}
		body, status, kind = known, known.Status, "application/problem+json"
	}
	writer.Header().Set("Content-Type", kind)
	if status == 401 {
		writer.Header().Set("WWW-Authenticate", "Bearer")
	}
	if route, ok := a.routes[request.URL.Path]; ok && status == 405 {
		writer.Header().Set("Allow", route.method)
	}
	writer.WriteHeader(status)
	json.NewEncoder(writer).Encode(body)
}

func (a *api) respond(request *http.Request) (any, error) {
	route, ok := a.routes[request.URL.Path]
	if !route.open && !a.knows(request.Header.Get("Authorization")) {
		return nil, &problem{401, "no token, or a wrong one",
			"send the header `Authorization: Bearer TOKEN` with the token that the container has in STOREBENCH_AGENT_TOKEN"}
	}
	if !ok {
		return nil, &problem{404, "there is no such path", "see docs/servers-agent.md for those of this version, " + version}
	}
	if request.Method != route.method {
		return nil, &problem{405, "the method is " + route.method, "send " + route.method + " " + request.URL.Path}
	}
	var asked fault
	var err error
	if route.cause != nil {
		asked, err = a.readFault(request)
	} else {
		asked.limits, err = readLimits(request)
	}
	if err != nil {
		return nil, err
	}
	if route.alone {
		if !a.operation.TryLock() {
			a.mutex.Lock()
			defer a.mutex.Unlock()
			return nil, conflict("another operation is going on",
				fmt.Sprintf("%s, for %.1f s: ask again when it has ended", a.name, time.Since(a.since).Seconds()))
		}
		defer a.operation.Unlock()
		a.mutex.Lock()
		a.name, a.since = request.URL.Path, time.Now()
		a.mutex.Unlock()
	}
	if route.cause != nil {
		return route.cause(asked)
	}
	return route.answer(asked.limits)
}

// knows compares hashes of the tokens in constant time, whatever part of the token is right.
func (a *api) knows(header string) bool {
	given := sha256.Sum256([]byte(strings.TrimPrefix(header, "Bearer ")))
	return subtle.ConstantTimeCompare(given[:], a.token[:]) == 1 && strings.HasPrefix(header, "Bearer ")
}

func readLimits(request *http.Request) (limits, error) {
	read := defaultLimits
	if err := readBody(request, &read, `{"stop_timeout_s": 60, "ready_timeout_s": 300}, or nothing`); err != nil {
		return read, err
	}
	return read, read.check()
}

// readBody reads a JSON object into `target`. An empty body does not change `target`.
func readBody(request *http.Request, target any, example string) error {
	body, err := io.ReadAll(io.LimitReader(request.Body, maxBody+1))
	if err != nil {
		return &problem{400, "the request did not come whole", "send it again"}
	}
	if len(body) > maxBody {
		return &problem{413, "the request is too long", fmt.Sprintf("a body has at most %d bytes", maxBody)}
	}
	if len(strings.TrimSpace(string(body))) > 0 {
		decoder := json.NewDecoder(strings.NewReader(string(body)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(target); err != nil || decoder.More() {
			return &problem{400, "the body is not understood", "send a JSON object such as " + example}
		}
	}
	return nil
}

func (a *api) health(limits) (any, error) {
	return map[string]string{"version": version}, nil
}

func (a *api) begin(limits) (any, error) {
	return map[string]string{"began_at": moment(a.meter.begin())}, nil
}

func (a *api) end(limits) (any, error) {
	if result := a.meter.end(); result != nil {
		return result, nil
	}
	return nil, conflict("nothing was begun", "ask /v1/begin first. If that was done, the container has started anew since then, at "+
		moment(a.meter.startedAt)+": see how the one before it has ended")
}

func (a *api) resident(limits) (any, error) {
	if err := a.needData(); err != nil {
		return nil, err
	}
	return resident(a.data)
}

// lukewarm stops the server, drops its files from the page cache, and starts the server. It accepts a stopped server: where several
// servers must be down together, a client stops all servers, drops, and starts all servers.
func (a *api) lukewarm(limits) (any, error) {
	if err := a.needData(); err != nil {
		return nil, err
	}
	before, err := resident(a.data)
	if err != nil {
		return nil, err
	}
	return a.drop(before)
}

func (a *api) drop(before residence) (dropped, error) {
	began := time.Now()
	after, err := drop(a.data)
	return dropped{DropSeconds: time.Since(began).Seconds(), ResidentBefore: before.ResidentBytes,
		ResidentAfterDrop: after.ResidentBytes, TotalBytes: after.TotalBytes, Files: after.Files}, err
}

func (a *api) start(limits limits) (any, error) {
	if err := a.needReady(); err != nil {
		return nil, err
	}
	return a.startServer(limits)
}

func (a *api) startServer(limits limits) (started, error) {
	began := time.Now()
	err := a.server.start()
	if err == nil {
		err = a.server.await(limits.ready())
	}
	return started{time.Since(began).Seconds()}, err
}

func (a *api) cold(limits limits) (any, error) {
	if err := a.needData(); err != nil {
		return nil, err
	}
	if err := a.needReady(); err != nil {
		return nil, err
	}
	before, err := resident(a.data)
	if err != nil {
		return nil, err
	}
	result := cold{}
	if result.stopped, err = a.server.stop(limits.stop()); err != nil {
		return nil, err
	}
	result.dropped, err = a.drop(before)
	if err != nil {
		// The server must not stay down because the drop failed.
		if _, second := a.startServer(limits); second != nil {
			say("%v", second)
		}
		return nil, err
	}
	if result.started, err = a.startServer(limits); err != nil {
		return nil, err
	}
	after, err := resident(a.data)
	result.ResidentAfter = after.ResidentBytes
	return result, err
}

func (a *api) needData() error {
	if len(a.data) > 0 {
		return nil
	}
	return conflict("the agent does not know where the data is", "set STOREBENCH_AGENT_DATA in the container to its folders")
}

func (a *api) needReady() error {
	if a.server.ready != nil {
		return nil
	}
	return conflict("the agent cannot see when the server answers",
		"set STOREBENCH_AGENT_READY in the container to tcp:PORT or http://127.0.0.1:PORT/PATH")
}

// limitedListener limits the number of open connections: requests must not take memory from the server.
type limitedListener struct {
	net.Listener
	free chan struct{}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	l.free <- struct{}{}
	connection, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limitedConnection{Conn: connection, release: func() { <-l.free }}, nil
}

type limitedConnection struct {
	net.Conn
	once    sync.Once
	release func()
}

func (c *limitedConnection) Close() error {
	c.once.Do(c.release)
	return c.Conn.Close()
}
