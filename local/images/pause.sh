#!/bin/sh
# Builds the pause image, whose process holds a pod's namespaces.
set -eu
. local/images/storage.sh
local/go-build kubernetes ./pause pause
container=$(local/isolated buildah from scratch)
local/isolated buildah add --quiet "$container" "$STOREBENCH_HOME/bin/pause" /pause
local/isolated buildah config --entrypoint '["/pause"]' "$container"
local/isolated buildah commit --quiet --rm "$container" localhost/storebench/pause:1
