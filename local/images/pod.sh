#!/bin/sh
# Builds a pod image from the same Dockerfile and script that users run. It stays in the builder's store, whose layers the cluster links.
# usage: pod.sh NAME KEY   (the hash of the image's inputs becomes its tag: a tag never means two things)
#
# The image of images/servers/NAME is servers-NAME.
set -eu
. local/images/storage.sh
name=$1 key=$2
folder=$name
case $name in servers-*) folder=servers/${name#servers-} ;; esac
bundle=/etc/ssl/certs/ca-certificates.crt
exec 8> "$STOREBENCH_HOME/images/.lock"
flock 8  # builds share one store of images: one after the other
local/isolated buildah rm --all > /dev/null  # of builds that were interrupted; no other step uses buildah now
set -- --engine buildah --tag "localhost/storebench/$name:$key"
[ ! -e $bundle ] || set -- "$@" --ca-bundle $bundle
local/isolated images/build "$folder" "$@" > "$STOREBENCH_HOME/images/$name.txt.new"
mv "$STOREBENCH_HOME/images/$name.txt.new" "$STOREBENCH_HOME/images/$name.txt"
# The builder keeps what makes the next build of this image fast: its layers and those of its stages. Earlier builds of this image go.
earlier=$(local/isolated buildah images --noheading --format '{{.Name}}:{{.Tag}}' --filter "reference=localhost/storebench/$name" |
    grep -Ex "localhost/storebench/$name:[0-9a-f]{12}" | grep -v ":$key\$" || true)
# shellcheck disable=SC2086 # a list of words
[ -z "$earlier" ] || local/isolated buildah rmi $earlier
rm -f "$STOREBENCH_HOME/images/$name.tar"  # of versions that had an archive of each image
