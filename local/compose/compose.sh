#!/bin/sh
# Unpacks Docker Compose from Debian's package: compiling Docker Compose would take two minutes.
set -eu
local/forky "$TMPDIR/tree" docker-compose
install "$TMPDIR/tree/usr/libexec/docker/cli-plugins/docker-compose" "$STOREBENCH_HOME/bin/.docker-compose"
mv "$STOREBENCH_HOME/bin/.docker-compose" "$STOREBENCH_HOME/bin/docker-compose"
