#!/bin/sh
# Puts the parts of Kubernetes into bin/cluster: the programs of Kubernetes' release, or links to one compiled binary of all parts.
# usage: build.sh auto|download|compile
#
# `auto` downloads the release, and compiles if the download fails or is slow. A wrong checksum is always an error. go.mod has the version.
set -eu
parts="kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubelet"
site=${STOREBENCH_KUBERNETES_SITE:-https://dl.k8s.io}
version=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' local/kubernetes/go.mod)
archive=$version/kubernetes-server-linux-$(dpkg --print-architecture).tar.gz
new=$STOREBENCH_HOME/bin/.cluster

# Prints a line to the log and to the user: local/step passes its own output as descriptor 3.
{ true >&3; } 2> /dev/null || exec 3>&1
say() {
    echo "$1"
    echo "kubernetes: $1" >&3
}

# Downloads the archive and checks it. Fails with the reason in $reason if the site does not deliver the archive.
download() {
    checksum=$(awk -v archive="$archive" '$2 == archive { print $1 }' local/kubernetes/release.sha512)
    if [ -z "$checksum" ]; then
        reason="local/kubernetes/release.sha512 has no checksum of $archive"
        return 1
    fi
    # A slower download of several hundred MB would take longer than the compilation.
    slow=
    [ "$1" = download ] || slow="--speed-limit 1500000 --speed-time 20"
    # shellcheck disable=SC2086 # a list of options
    reason=$(curl --fail --location --progress-bar --connect-timeout 5 $slow --write-out '%{errormsg}' \
        --output "$TMPDIR/release.tar.gz" "$site/$archive") || return 1
    actual=$(sha512sum < "$TMPDIR/release.tar.gz" | cut -d ' ' -f 1)
    if [ "$actual" != "$checksum" ]; then
        echo "$site/$archive is not the file that Kubernetes released, and was not unpacked." >&2
        echo "Its SHA-512 is $actual;" >&2
        echo "local/kubernetes/release.sha512 has $checksum." >&2
        echo "A proxy may have answered in the site's place. STOREBENCH_KUBERNETES=compile needs no download." >&2
        exit 1
    fi
}

unpack() {
    members=
    for part in $parts; do
        members="$members kubernetes/server/bin/$part"
    done
    # shellcheck disable=SC2086 # a list of paths
    tar --extract --gzip --no-same-owner --strip-components=3 --file "$TMPDIR/release.tar.gz" --directory "$new" $members
}

compile() {
    local/go-build kubernetes . kubernetes 3>&-
    mv "$STOREBENCH_HOME/bin/kubernetes" "$new/kubernetes"
    for part in $parts; do
        ln -s kubernetes "$new/$part"
    done
}

rm -rf "$new"
mkdir -p "$new"
if [ "$1" = compile ]; then
    compile
elif download "$1"; then
    unpack
    say "took release $version from $site, with the right checksum"
elif [ "$1" = auto ]; then
    say "compiling $version, because the release cannot be downloaded from $site: $reason"
    compile
else
    echo "The release $version cannot be downloaded from $site: $reason" >&2
    exit 1
fi
# bin/kubernetes is from versions of this step before bin/cluster.
rm -rf "$STOREBENCH_HOME/bin/cluster" "$STOREBENCH_HOME/bin/kubernetes"
mv "$new" "$STOREBENCH_HOME/bin/cluster"
