package main

import "os"

// The answers of /v1/copies.
const (
	copiesUnknown    = "unknown"    // the topology declares no command that tells
	copiesWhole      = "whole"      // all data has all of its copies
	copiesIncomplete = "incomplete" // a copy is missing, or the server does not tell at present
	copiesNone       = "none"       // the data has no copies
)

const (
	exitNoCopies    = 3  // exit code of the topology's command
	copiesTimeLimit = 10 // seconds of this command
)

// copies runs the topology's command that tells whether all copies of the data are whole.
func (a *api) copies(limits) (any, error) {
	if a.whole == "" {
		return map[string]string{"copies": copiesUnknown}, nil
	}
	if _, err := a.server.running(); err != nil {
		return nil, err
	}
	nothing, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer nothing.Close()
	running, err := a.server.startTask(a.whole, nothing)
	if err == nil {
		err = a.server.awaitTask(running, fault{Kind: "the question for copies", For: copiesTimeLimit})
	}
	if err != nil {
		return nil, err
	}
	state := copiesIncomplete
	switch running.code {
	case 0:
		state = copiesWhole
	case exitNoCopies:
		state = copiesNone
	}
	return map[string]string{"copies": state}, nil
}
