package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	lookInterval = 50 * time.Millisecond
	lookTimeout  = 5 * time.Second
)

// readiness is the check that the server answers: a TCP connection to an address, or a request for a page.
type readiness struct {
	address string
	page    string
	client  *http.Client
}

func parseReadiness(text string) (*readiness, error) {
	if text == "" {
		return nil, nil
	}
	if strings.HasPrefix(text, "tcp:") {
		port, err := parsePort(strings.TrimPrefix(text, "tcp:"))
		if err != nil {
			return nil, err
		}
		return &readiness{address: fmt.Sprintf("127.0.0.1:%d", port)}, nil
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != "http" || parsed.Host == "" {
		return nil, fmt.Errorf("%q is neither tcp:PORT nor http://127.0.0.1:PORT/PATH", text)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		Timeout:       lookTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &readiness{page: text, client: client}, nil
}

// answers returns nil if the server answers: it accepts a connection, or returns a page with a status below 400.
func (r *readiness) answers() error {
	if r.address != "" {
		connection, err := net.DialTimeout("tcp", r.address, lookTimeout)
		if err == nil {
			connection.Close()
		}
		return err
	}
	response, err := r.client.Get(r.page)
	if err != nil {
		return err
	}
	io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	response.Body.Close()
	if response.StatusCode >= 400 {
		return errors.New("it answers " + response.Status)
	}
	return nil
}
