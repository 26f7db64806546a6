#!/bin/sh
# Builds the image of the process that holds a pod's namespaces, as an archive that containerd can import.
set -eu
. local/images/storage.sh
local/go-build kubernetes ./pause pause
container=$(local/isolated buildah from scratch)
local/isolated buildah add --quiet "$container" "$STOREBENCH_HOME/bin/pause" /pause
local/isolated buildah config --entrypoint '["/pause"]' "$container"
local/isolated buildah commit --quiet --rm "$container" localhost/storebench/pause:1
rm -f "$STOREBENCH_HOME/images/pause.tar"
local/isolated buildah push --quiet localhost/storebench/pause:1 \
    "oci-archive:$STOREBENCH_HOME/images/pause.tar:localhost/storebench/pause:1"
