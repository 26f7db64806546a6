// The Go service in front of a database, which writes and reads entities by ID, one at a time. It equals the Python service
// (storebench.stores.point_operations.service), uses the databases' Go drivers, and takes the same environment variables.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	address  = ":8080"
	timeout  = 10 * time.Second
	maxBytes = 64 << 10 // maximum size of an entity
	pool     = 100      // connections to MongoDB: as many as the study has users
	most     = 16       // maximum number of tables with open connections
)

// Entity has the study's fields, as pointers, so that a missing field is detected.
type Entity struct {
	ID          *UUID   `json:"id"`
	Name        *string `json:"name"`
	Age         *int    `json:"age"`
	Description *string `json:"description"`
	Address     *string `json:"address"`
	Phone       *string `json:"phone"`
	Email       *string `json:"email"`
}

func (e *Entity) problem() string {
	switch {
	case e.ID == nil || e.Name == nil || e.Age == nil || e.Description == nil || e.Address == nil || e.Phone == nil || e.Email == nil:
		return "a field is missing"
	case *e.Age < 0 || *e.Age > 200:
		return "age: from 0 to 200"
	case len(*e.Name) > 800 || len(*e.Description) > 40_000 || len(*e.Address) > 2_000 || len(*e.Phone) > 200 || len(*e.Email) > 1_280:
		return "a text is too long"
	}
	return ""
}

// table is a table of entities at one consistency.
type table interface {
	insert(context.Context, *Entity) error
	get(context.Context, UUID) (*Entity, error) // nil: no such entity
	close()
}

type database interface {
	open(table, consistency string) (table, error)
	timedOut(error) bool
	unreachable(error) bool
}

var (
	name   = regexp.MustCompile(`^storebench_[a-z0-9_]{1,52}$`)
	titles = map[int]string{
		http.StatusNotFound:            "Not found",
		http.StatusUnprocessableEntity: "Not an entity",
		http.StatusBadGateway:          "The database refused",
		http.StatusServiceUnavailable:  "The database cannot be reached",
		http.StatusGatewayTimeout:      "The database did not answer in time",
	}
)

type key struct{ table, consistency string }

type service struct {
	database database
	mutex    sync.RWMutex
	tables   map[key]table
	order    []key // the most recently connected table comes last
}

func (s *service) table(request *http.Request) (table, int, string) {
	wanted := key{request.PathValue("table"), request.URL.Query().Get("consistency")}
	if wanted.consistency == "" {
		wanted.consistency = "one"
	}
	s.mutex.RLock()
	found := s.tables[wanted]
	s.mutex.RUnlock()
	if found != nil {
		return found, 0, ""
	}
	if !name.MatchString(wanted.table) {
		return nil, http.StatusNotFound, fmt.Sprintf("%q is no name of a table", wanted.table)
	}
	if wanted.consistency != "one" && wanted.consistency != "quorum" {
		return nil, http.StatusUnprocessableEntity, "consistency: one or quorum"
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if found = s.tables[wanted]; found != nil {
		return found, 0, ""
	}
	found, err := s.database.open(wanted.table, wanted.consistency)
	if err != nil {
		log.Printf("%s: %v", wanted.table, err)
		return nil, http.StatusServiceUnavailable, "The database gives no table " + wanted.table
	}
	if len(s.order) == most {
		s.tables[s.order[0]].close()
		delete(s.tables, s.order[0])
		s.order = s.order[1:]
	}
	s.tables[wanted], s.order = found, append(s.order, wanted)
	return found, 0, ""
}

func (s *service) write(answer http.ResponseWriter, request *http.Request) {
	into, status, detail := s.table(request)
	if into == nil {
		problem(answer, status, detail)
		return
	}
	var sent Entity
	decoder := json.NewDecoder(http.MaxBytesReader(answer, request.Body, maxBytes))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&sent); err != nil {
		problem(answer, http.StatusUnprocessableEntity, err.Error())
		return
	}
	if detail := sent.problem(); detail != "" {
		problem(answer, http.StatusUnprocessableEntity, detail)
		return
	}
	ctx, cancel := context.WithTimeout(request.Context(), timeout)
	defer cancel()
	if err := into.insert(ctx, &sent); err != nil {
		s.refused(answer, err)
		return
	}
	answer.Header().Set("Location", request.URL.Path+"/"+sent.ID.String())
	answer.WriteHeader(http.StatusCreated)
}

func (s *service) read(answer http.ResponseWriter, request *http.Request) {
	from, status, detail := s.table(request)
	if from == nil {
		problem(answer, status, detail)
		return
	}
	var id UUID
	if err := id.UnmarshalText([]byte(request.PathValue("id"))); err != nil {
		problem(answer, http.StatusUnprocessableEntity, "id: "+err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(request.Context(), timeout)
	defer cancel()
	found, err := from.get(ctx, id)
	switch {
	case err != nil:
		s.refused(answer, err)
	case found == nil:
		problem(answer, http.StatusNotFound, "There is no entity "+id.String())
	default:
		reply(answer, http.StatusOK, "application/json", found)
	}
}

// refused answers only the kind of an error: the error's text may contain addresses and names of users.
func (s *service) refused(answer http.ResponseWriter, err error) {
	log.Print(err)
	status := http.StatusBadGateway
	if errors.Is(err, context.DeadlineExceeded) || s.database.timedOut(err) {
		status = http.StatusGatewayTimeout
	} else if s.database.unreachable(err) {
		status = http.StatusServiceUnavailable
	}
	problem(answer, status, fmt.Sprintf("The database did not do it: %T", err))
}

func (s *service) health(answer http.ResponseWriter, _ *http.Request) {
	reply(answer, http.StatusOK, "application/json", map[string]string{"name": "go", "version": runtime.Version(), "server": "net/http"})
}

func reply(answer http.ResponseWriter, status int, kind string, body any) {
	answer.Header().Set("Content-Type", kind)
	answer.WriteHeader(status)
	encoder := json.NewEncoder(answer)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // an error means that the client has gone
}

// problem answers an error by RFC 9457.
func problem(answer http.ResponseWriter, status int, detail string) {
	reply(answer, status, "application/problem+json", map[string]any{
		"type": "about:blank", "status": status, "title": titles[status], "detail": detail,
	})
}

func (s *service) handler() http.Handler {
	paths := http.NewServeMux()
	paths.HandleFunc("GET /health", s.health)
	paths.HandleFunc("POST /tables/{table}/entities", s.write)
	paths.HandleFunc("GET /tables/{table}/entities/{id}", s.read)
	paths.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
		problem(answer, http.StatusNotFound, "There is nothing here")
	})
	return paths
}

func main() {
	store, host := os.Getenv("DATABASE_STORE"), os.Getenv("DATABASE_HOST")
	if host == "" {
		log.Fatal("DATABASE_HOST is not set")
	}
	var chosen database
	switch port := os.Getenv("DATABASE_PORT"); store {
	case "MongoDB":
		chosen = &mongodb{host, port}
	case "Cassandra":
		chosen = &cassandra{host, port}
	default:
		log.Fatalf("DATABASE_STORE is %q, and must be MongoDB or Cassandra", store)
	}
	at := os.Getenv("LISTEN")
	if at == "" {
		at = address
	}
	one := &service{database: chosen, tables: map[key]table{}}
	server := &http.Server{Addr: at, Handler: one.handler(), ReadHeaderTimeout: timeout}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		_ = server.Shutdown(ending)
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
