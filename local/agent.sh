#!/bin/sh
# Tests and builds the agent of servers.
set -eu
. local/go-check.sh
(cd agent && check_go)
local/go-build ../agent . storebench-agent
