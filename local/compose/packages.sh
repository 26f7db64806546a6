#!/bin/sh
# Installs the programs that local/compose/engine runs.
set -eu
command -v dockerd > /dev/null && command -v docker > /dev/null && command -v slirp4netns > /dev/null || local/install docker.io slirp4netns
