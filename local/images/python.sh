#!/bin/sh
# Builds the pod image from the same Dockerfile and script that users run, as an archive that containerd can import.
# usage: python.sh KEY   (the hash of the image's inputs becomes its tag: a tag never means two things)
set -eu
. local/images/storage.sh
bundle=/etc/ssl/certs/ca-certificates.crt
archive=$STOREBENCH_HOME/images/python.tar
[ ! -e $bundle ] || set -- "$@" --ca-bundle $bundle
key=$1
shift
local/isolated buildah rm --all > /dev/null  # of builds that were interrupted; no other step uses buildah now
rm -f "$archive.new"
local/isolated images/build python --engine buildah --tag "localhost/storebench/python:$key" --archive "$archive.new" "$@" \
    > "$STOREBENCH_HOME/images/python.txt.new"
mv "$archive.new" "$archive"
mv "$STOREBENCH_HOME/images/python.txt.new" "$STOREBENCH_HOME/images/python.txt"
