package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const path = "/tables/storebench_x/entities"

const good = `{"id":"00010203-0405-4607-8809-0a0b0c0d0e0f","name":"Zoë <a>","age":3,"description":"d","address":"a","phone":"p","email":"e"}`

var (
	errAway = errors.New("secret address")
	errLate = errors.New("too late")
)

// memory keeps entities in memory. An entity that is named after an error fails with this error.
type memory map[UUID]*Entity

func (m memory) open(string, string) (table, error) { return m, nil }

func (m memory) insert(_ context.Context, e *Entity) error {
	switch *e.Name {
	case "away":
		return errAway
	case "late":
		return errLate
	case "other":
		return errors.New("secret")
	}
	m[*e.ID] = e
	return nil
}

func (m memory) get(_ context.Context, id UUID) (*Entity, error) { return m[id], nil }

func (memory) close() {}

func (memory) timedOut(err error) bool { return errors.Is(err, errLate) }

func (memory) unreachable(err error) bool { return errors.Is(err, errAway) }

func asked(handler http.Handler, method, path, body string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(method, path, strings.NewReader(body)))
	return answer
}

func TestAnEntityComesBackAsItWasSent(t *testing.T) {
	handler := (&service{database: memory{}, tables: map[key]table{}}).handler()
	answer := asked(handler, "POST", path+"?consistency=quorum", good)
	where := answer.Header().Get("Location")
	if answer.Code != http.StatusCreated || where != path+"/00010203-0405-4607-8809-0a0b0c0d0e0f" {
		t.Fatal(answer.Code, where, answer.Body)
	}
	answer = asked(handler, "GET", where, "")
	if answer.Code != http.StatusOK || strings.TrimSpace(answer.Body.String()) != good {
		t.Fatal(answer.Code, answer.Body)
	}
}

func TestWhatIsRefusedIsAProblemWithoutSecrets(t *testing.T) {
	handler := (&service{database: memory{}, tables: map[key]table{}}).handler()
	named := func(name string) string { return strings.Replace(good, "Zoë <a>", name, 1) }
	for _, one := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", path + "/00010203-0405-4607-8809-0a0b0c0d0e0f", "", http.StatusNotFound},
		{"GET", path + "/5", "", http.StatusUnprocessableEntity},
		{"GET", "/tables/admin/entities/00010203-0405-4607-8809-0a0b0c0d0e0f", "", http.StatusNotFound},
		{"GET", "/", "", http.StatusNotFound},
		{"POST", path + "?consistency=all", good, http.StatusUnprocessableEntity},
		{"POST", path, "{}", http.StatusUnprocessableEntity},
		{"POST", path, strings.Replace(good, `"age":3`, `"age":"3"`, 1), http.StatusUnprocessableEntity},
		{"POST", path, strings.Replace(good, `"age":3`, `"age":300`, 1), http.StatusUnprocessableEntity},
		{"POST", path, strings.Replace(good, `"age":3`, `"age":3,"more":1`, 1), http.StatusUnprocessableEntity},
		{"POST", path, named(strings.Repeat("x", 801)), http.StatusUnprocessableEntity},
		{"POST", path, named(strings.Repeat("x", maxBytes)), http.StatusUnprocessableEntity},
		{"POST", path, named("away"), http.StatusServiceUnavailable},
		{"POST", path, named("late"), http.StatusGatewayTimeout},
		{"POST", path, named("other"), http.StatusBadGateway},
	} {
		answer := asked(handler, one.method, one.path, one.body)
		var problem struct{ Status int }
		if err := json.Unmarshal(answer.Body.Bytes(), &problem); err != nil || problem.Status != one.status || answer.Code != one.status ||
			answer.Header().Get("Content-Type") != "application/problem+json" || strings.Contains(answer.Body.String(), "secret") {
			t.Error(one.path, answer.Code, answer.Body, err)
		}
	}
}

// counted opens tables, and tracks which tables are open.
type counted struct {
	memory
	names map[string]bool
}

type opened struct {
	memory
	onClose func()
}

func (o opened) close() { o.onClose() }

func (c counted) open(name, _ string) (table, error) {
	c.names[name] = true
	return opened{c.memory, func() { delete(c.names, name) }}, nil
}

func TestOnlyTheTablesThatWereConnectedLastStayOpen(t *testing.T) {
	database := counted{memory{}, map[string]bool{}}
	handler := (&service{database: database, tables: map[key]table{}}).handler()
	for number := range most + 2 {
		answer := asked(handler, "POST", fmt.Sprintf("/tables/storebench_%d/entities", number), good)
		if answer.Code != http.StatusCreated {
			t.Fatal(answer.Code, answer.Body)
		}
	}
	if len(database.names) != most || database.names["storebench_1"] || !database.names["storebench_2"] {
		t.Fatal(database.names)
	}
}

func TestBothConsistenciesAskForTheSameJournal(t *testing.T) {
	for consistency, copies := range map[string]any{"one": 1, "quorum": "majority"} {
		write, read := concerns(consistency)
		if write.W != copies || write.Journal == nil || *write.Journal {
			t.Error(consistency, write.W, write.Journal)
		}
		if (read.Level == "majority") != (consistency == "quorum") {
			t.Error(consistency, read.Level)
		}
	}
}
