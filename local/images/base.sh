#!/bin/sh
# Provides the base image debian:bookworm-slim to buildah: from the registry, or without access to a registry from Debian's packages, so
# that the same Dockerfiles build on any machine.
set -eu
. local/images/storage.sh
image=docker.io/library/debian:bookworm-slim
timeout 60 local/isolated buildah pull --quiet "$image" && exit
echo "no registry can be reached: making $image from packages"
tree=$TMPDIR/base.tar
# dpkg unpacks packages without fsync, as in the published image.
mmdebstrap --variant=minbase --include=ca-certificates --dpkgopt=force-unsafe-io \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*' \
    bookworm "$tree" "$(local/mirror)"
container=$(local/isolated buildah from scratch)
local/isolated buildah add --quiet "$container" "$tree" /
local/isolated buildah config --cmd bash "$container"
local/isolated buildah commit --quiet --rm "$container" "$image"
