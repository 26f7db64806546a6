#!/bin/sh
# Builds a pod image from the same Dockerfile and script that users run, as an archive that containerd can import.
# usage: pod.sh NAME KEY   (the hash of the image's inputs becomes its tag: a tag never means two things)
#
# The image of images/servers/NAME is servers-NAME.
set -eu
. local/images/storage.sh
name=$1 key=$2
folder=$name
case $name in servers-*) folder=servers/${name#servers-} ;; esac
bundle=/etc/ssl/certs/ca-certificates.crt
archive=$STOREBENCH_HOME/images/$name.tar
exec 8> "$STOREBENCH_HOME/images/.lock"
flock 8  # builds share one store of images: one after the other
local/isolated buildah rm --all > /dev/null  # of builds that were interrupted; no other step uses buildah now
rm -f "$archive.new"
set -- --engine buildah --tag "localhost/storebench/$name:$key" --archive "$archive.new"
[ ! -e $bundle ] || set -- "$@" --ca-bundle $bundle
local/isolated images/build "$folder" "$@" > "$STOREBENCH_HOME/images/$name.txt.new"
mv "$archive.new" "$archive"
mv "$STOREBENCH_HOME/images/$name.txt.new" "$STOREBENCH_HOME/images/$name.txt"
