package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestDefaultsAndTheEnvironmentOfTheServer(t *testing.T) {
	read, err := readSettings([]string{"PATH=/bin", "STOREBENCH_AGENT_TOKEN=secret=text", "STOREBENCH_AGENT_PORT=", "EMPTY=", "STOREBENCH_AGENT_OTHER=x"})
	if err != nil {
		t.Fatal(err)
	}
	if read.token != "secret=text" || read.port != 9110 || read.message != "/dev/termination-log" || read.cgroup != "/sys/fs/cgroup" {
		t.Errorf("the settings are %+v, expected the token and the defaults", read)
	}
	if len(read.data) > 0 || read.ready != nil {
		t.Errorf("the settings are %+v, expected no data and no check that the server answers", read)
	}
	if expected := []string{"PATH=/bin", "EMPTY="}; !slices.Equal(read.childEnvironment, expected) {
		t.Errorf("the server gets %q, expected %q", read.childEnvironment, expected)
	}
}

func TestEverySetting(t *testing.T) {
	read, err := readSettings([]string{"STOREBENCH_AGENT_TOKEN=t", "STOREBENCH_AGENT_PORT=80", "STOREBENCH_AGENT_DATA=/data:/more/",
		"STOREBENCH_AGENT_READY=tcp:5432", "STOREBENCH_AGENT_MESSAGE=/log", "STOREBENCH_AGENT_CGROUP=/cgroup",
		"STOREBENCH_AGENT_COMMAND_COMPACT=tidy --up=all"})
	if err != nil {
		t.Fatal(err)
	}
	if read.port != 80 || read.message != "/log" || read.cgroup != "/cgroup" || !slices.Equal(read.data, []string{"/data", "/more"}) {
		t.Errorf("the settings are %+v", read)
	}
	if len(read.commands) != 1 || read.commands["compact"] != "tidy --up=all" {
		t.Errorf("the commands are %q, expected a single command, for compact", read.commands)
	}
	if read.ready == nil || read.ready.address != "127.0.0.1:5432" {
		t.Errorf("the check that the server answers is %+v, expected port 5432 of this machine", read.ready)
	}
}

func TestBadSettingsNameTheirVariable(t *testing.T) {
	for _, variable := range []string{"TOKEN=", "PORT=0", "PORT=65536", "PORT=http", "DATA=data", "DATA=/data:more", "READY=5432",
		"READY=tcp:", "READY=https://127.0.0.1/", "READY=http:///page"} {
		name, _, _ := strings.Cut(variable, "=")
		_, err := readSettings([]string{"STOREBENCH_AGENT_TOKEN=t", prefix + variable})
		if name == "TOKEN" {
			_, err = readSettings([]string{prefix + variable})
		}
		if err == nil || !strings.Contains(err.Error(), prefix+name) {
			t.Errorf("%s gives the error %v, expected an error that names the variable", variable, err)
		}
	}
}

func TestFoldersInsideOtherFolders(t *testing.T) {
	for text, expected := range map[string][]string{
		"":                        nil,
		":/b::/a:":                {"/a", "/b"},
		"/data/log:/data":         {"/data"},
		"/data:/database":         {"/data", "/database"},
		"/data/../data/:/data":    {"/data"},
		"/data:/":                 {"/"},
		"/a/b/c:/a-b:/a/b:/a/b/d": {"/a-b", "/a/b"},
	} {
		folders, err := parseFolders(text)
		if err != nil || !slices.Equal(folders, expected) {
			t.Errorf("%q gives %q and the error %v, expected %q", text, folders, err, expected)
		}
	}
}

func TestPageAnswersBelowStatus400(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		asked++
		switch request.URL.Path {
		case "/moved":
			http.Redirect(writer, request, "/missing", http.StatusFound)
		case "/missing":
			http.NotFound(writer, request)
		case "/busy":
			writer.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	for path, answers := range map[string]bool{"/": true, "/moved": true, "/missing": false, "/busy": false} {
		check, err := parseReadiness(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		asked = 0
		if err := check.answers(); (err == nil) != answers {
			t.Errorf("%s gives the error %v", path, err)
		}
		if asked != 1 {
			t.Errorf("%s was asked %d times, expected once: a redirect is an answer", path, asked)
		}
	}
}

func TestPortAnswersWhileItIsOpen(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	check, err := parseReadiness("tcp:" + listener.Addr().String()[len("127.0.0.1:"):])
	if err != nil {
		t.Fatal(err)
	}
	if err := check.answers(); err != nil {
		t.Errorf("an open port gives the error %v", err)
	}
	listener.Close()
	if check.answers() == nil {
		t.Error("a closed port answers")
	}
}
