#!/bin/sh
# Tests and builds the agent of servers.
set -eu
. local/go-check.sh
cd agent
check_go
go build -v -ldflags '-s -w' -o "$STOREBENCH_HOME/bin/.storebench-agent" .
mv "$STOREBENCH_HOME/bin/.storebench-agent" "$STOREBENCH_HOME/bin/storebench-agent"
