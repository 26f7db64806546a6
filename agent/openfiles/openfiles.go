// Package openfiles notes how many files the agent may have open, before the runtime raises that.
//
// From Go 1.19 on, the package os raises the soft limit when it is initialized. Newer versions give a child the former one back, but
// 1.19.8, which Debian 12 has, does not. The server must get what it would get without the agent. This package does not import os, and
// the first file of main by name imports it first: so 1.19 initializes it first. A test holds that.
package openfiles

import "syscall"

var atStart, errAtStart = read()

func read() (syscall.Rlimit, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return limit, err
}

// Restore sets the limit that there was, if it was raised since. Children inherit it.
func Restore() error {
	now, err := read()
	if err != nil || errAtStart != nil || now.Cur == atStart.Cur {
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &atStart)
}
