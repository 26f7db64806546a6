#!/bin/sh
# Builds a pod image from the same Dockerfile and script that users run, as an archive that containerd can import.
# usage: pod.sh NAME KEY   (the hash of the image's inputs becomes its tag: a tag never means two things)
set -eu
. local/images/storage.sh
name=$1 key=$2
bundle=/etc/ssl/certs/ca-certificates.crt
archive=$STOREBENCH_HOME/images/$name.tar
local/isolated buildah rm --all > /dev/null  # of builds that were interrupted; no other step uses buildah now
rm -f "$archive.new"
set -- --engine buildah --tag "localhost/storebench/$name:$key" --archive "$archive.new"
[ ! -e $bundle ] || set -- "$@" --ca-bundle $bundle
local/isolated images/build "$name" "$@" > "$STOREBENCH_HOME/images/$name.txt.new"
mv "$archive.new" "$archive"
mv "$STOREBENCH_HOME/images/$name.txt.new" "$STOREBENCH_HOME/images/$name.txt"
