package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

const (
	prefix        = "STOREBENCH_AGENT_"
	commandPrefix = "COMMAND_" // of the variables that declare commands, behind `prefix`
)

type settings struct {
	token            string
	port             int
	data             []string
	ready            *readiness        // nil: not known
	commands         map[string]string // the server's own commands for its maintenance, by name in lower case
	whole            string            // the command that tells whether all copies of the data are whole
	message          string
	cgroup           string
	childEnvironment []string
}

// readSettings removes the agent's own variables from the environment: the server gets the remaining variables.
func readSettings(environment []string) (*settings, error) {
	found := map[string]string{"PORT": "9110", "MESSAGE": "/dev/termination-log", "CGROUP": "/sys/fs/cgroup"}
	read := &settings{commands: map[string]string{}}
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, prefix) {
			read.childEnvironment = append(read.childEnvironment, variable)
		} else if value != "" {
			found[strings.TrimPrefix(name, prefix)] = value
		}
	}
	read.token, read.message, read.cgroup, read.whole = found["TOKEN"], found["MESSAGE"], found["CGROUP"], found["WHOLE"]
	if read.token == "" {
		return nil, errors.New("there is no token: set STOREBENCH_AGENT_TOKEN, from a Secret")
	}
	for name, value := range found {
		if command, ok := strings.CutPrefix(name, commandPrefix); ok {
			read.commands[strings.ToLower(command)] = value
		}
	}
	var err error
	if read.port, err = parsePort(found["PORT"]); err != nil {
		return nil, fmt.Errorf("STOREBENCH_AGENT_PORT: %w", err)
	}
	if read.data, err = parseFolders(found["DATA"]); err != nil {
		return nil, fmt.Errorf("STOREBENCH_AGENT_DATA: %w", err)
	}
	if read.ready, err = parseReadiness(found["READY"]); err != nil {
		return nil, fmt.Errorf("STOREBENCH_AGENT_READY: %w", err)
	}
	return read, nil
}

func parsePort(text string) (int, error) {
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return 0, fmt.Errorf("%q is no port: give a number from 1 to 65535", text)
	}
	return port, nil
}

// parseFolders excludes folders that are inside another folder: no file may count twice.
func parseFolders(text string) ([]string, error) {
	var all, outer []string
	for _, folder := range strings.Split(text, ":") {
		if folder == "" {
			continue
		}
		if !filepath.IsAbs(folder) {
			return nil, fmt.Errorf("%q must begin with a slash", folder)
		}
		all = append(all, filepath.Clean(folder))
	}
	sort.Strings(all)
	for _, folder := range all {
		inside := false
		for _, other := range outer {
			inside = inside || folder == other || strings.HasPrefix(folder, strings.TrimSuffix(other, "/")+"/")
		}
		if !inside {
			outer = append(outer, folder)
		}
	}
	return outer, nil
}
