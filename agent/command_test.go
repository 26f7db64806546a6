package main

import (
	"os"
	"path/filepath"
	"testing"
)

// startWithCommands starts the server of a test whose topology declares commands.
func startWithCommands(t *testing.T, commands map[string]string) *api {
	t.Helper()
	handler, gate := newTestServer(t, "")
	rewrite(t, filepath.Dir(gate), map[string]string{"gate": ""})
	handler.commands = commands
	if answer := ask(t, handler, "POST", "/v1/start", ""); answer.status != 200 {
		t.Fatalf("the server does not start: %+v", answer.problem)
	}
	return handler
}

func TestCommandRunsBesideTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "done")
	handler := startWithCommands(t, map[string]string{"compact": "sleep 0.2; echo $TEST_SERVER_ADDRESS > " + file})
	before, _, _ := handler.server.state()
	answer := ask(t, handler, "POST", "/v1/fault", `{"fault": "compact", "for_s": 60}`)
	inOrder(t, answer, 0.2)
	if code, present := answer.fields["exit_code"]; code != nil || !present {
		t.Errorf("the answer is %v, expected no exit code of the server", answer.fields)
	}
	if text, err := os.ReadFile(file); err != nil || len(text) < 2 {
		t.Errorf("the command wrote %q (%v), expected the address in the server's environment", text, err)
	}
	if pid, restarts, _ := handler.server.state(); pid != before || restarts != 0 {
		t.Errorf("the server has the PID %d after %d restarts, expected it to go on as %d", pid, restarts, before)
	}
}

func TestCommandsThatFail(t *testing.T) {
	handler := startWithCommands(t, map[string]string{"compact": "echo first; echo no room >&2; exit 3", "backup": "kill -9 $$", "repair": "sleep 3600"})
	ask(t, handler, "POST", "/v1/fault", `{"fault": "compact", "for_s": 60}`).fails(t, 500, "compact ended with the exit code 3: first no room")
	ask(t, handler, "POST", "/v1/fault", `{"fault": "backup", "for_s": 60}`).fails(t, 500, "backup ended with the exit code 137")
	ask(t, handler, "POST", "/v1/fault", `{"fault": "repair", "for_s": 0.1}`).fails(t, 504, "repair was killed after 100ms: give a longer for_s")
	ask(t, handler, "POST", "/v1/fault", `{"fault": "burn"}`).fails(t, 400, "or for a command that the variables STOREBENCH_AGENT_COMMAND_")
	if pid, restarts, _ := handler.server.state(); pid == 0 || restarts != 0 {
		t.Errorf("the server has the PID %d after %d restarts, expected it to go on", pid, restarts)
	}
	ask(t, handler, "POST", "/v1/stop", "")
	ask(t, handler, "POST", "/v1/fault", `{"fault": "compact"}`).fails(t, 409, "the server does not run")
}

func TestEndOfTheContainerEndsACommand(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	handler := startWithCommands(t, map[string]string{"compact": "echo > " + mark + "; sleep 3600"})
	endContainerDuring(t, handler, "compact", func() bool { _, err := os.Stat(mark); return err == nil })
	if end := <-handler.server.left; !end.asked || end.code != serverCode {
		t.Errorf("the agent ends with %+v, expected an end that was asked for", end)
	}
}

func TestCopies(t *testing.T) {
	handler := startWithCommands(t, map[string]string{"compact": "sleep 3600"})
	folder := t.TempDir()
	for command, expected := range map[string]string{"": "unknown", "exit 3": "none", "exit 1": "incomplete", "kill -9 $$": "incomplete",
		"echo told; cd " + folder: "whole"} {
		handler.whole = command
		if answer := ask(t, handler, "GET", "/v1/copies", ""); answer.fields["copies"] != expected {
			t.Errorf("the command %q gives %v, expected %s", command, answer.fields, expected)
		}
	}
	if causeOf := handler.causeOf("whole"); causeOf != nil {
		t.Error("the question for copies is a fault")
	}
	going := make(chan answered)
	go func() { going <- ask(t, handler, "POST", "/v1/fault", `{"fault": "compact", "for_s": 0.5}`) }()
	wait(t, "another command runs", func() bool {
		handler.server.mutex.Lock()
		defer handler.server.mutex.Unlock()
		return handler.server.task != nil
	})
	ask(t, handler, "GET", "/v1/copies", "").fails(t, 409, "another command runs")
	(<-going).fails(t, 504, "compact was killed")
	ask(t, handler, "POST", "/v1/stop", "")
	ask(t, handler, "GET", "/v1/copies", "").fails(t, 409, "the server does not run")
}
