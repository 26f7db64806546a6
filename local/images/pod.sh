#!/bin/sh
# Builds a pod image with the same Dockerfile and script that users run. The image stays in buildah's store, whose layers the cluster links.
# usage: pod.sh NAME KEY   (KEY, the hash of the image's inputs, becomes the tag, so that a tag never names two images)
#
# The image of images/servers/NAME is servers-NAME.
set -eu
. local/images/storage.sh
name=$1 key=$2
folder=$name
case $name in servers-*) folder=servers/${name#servers-} ;; esac
bundle=/etc/ssl/certs/ca-certificates.crt
exec 8> "$STOREBENCH_HOME/images/.lock"
flock 8  # builds share one image store, and run one after the other
local/isolated buildah rm --all > /dev/null  # remains of interrupted builds; no other step uses buildah now
set -- --engine buildah --tag "localhost/storebench/$name:$key"
[ ! -e $bundle ] || set -- "$@" --ca-bundle $bundle
local/isolated images/build "$folder" "$@" > "$STOREBENCH_HOME/images/$name.txt.new"
mv "$STOREBENCH_HOME/images/$name.txt.new" "$STOREBENCH_HOME/images/$name.txt"
# buildah keeps the layers of the image and its build stages, which make the next build fast. Earlier builds of the image are removed.
earlier=$(local/isolated buildah images --noheading --format '{{.Name}}:{{.Tag}}' --filter "reference=localhost/storebench/$name" |
    grep -Ex "localhost/storebench/$name:[0-9a-f]{12}" | grep -v ":$key\$" || true)
# shellcheck disable=SC2086 # a list of words
[ -z "$earlier" ] || local/isolated buildah rmi $earlier
rm -f "$STOREBENCH_HOME/images/$name.tar"  # older versions wrote an archive of each image
