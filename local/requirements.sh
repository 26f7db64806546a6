#!/bin/sh
# Checks the machine's requirements. As root on Debian, it installs missing packages; otherwise it prints the command that installs them.
set -eu
needed_go=1.26

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

[ "$(uname -s)" = Linux ] || fail "The embedded stack needs Linux (or set KUBECONFIG and use a cluster of your own)."
[ "$(id -u)" = 0 ] || fail "The embedded stack needs root: it runs a kubelet, which mounts and makes network links."
# A socket's path has at most 107 bytes.
[ ${#STOREBENCH_HOME} -le 60 ] || fail "The path is too long for the servers' sockets: $STOREBENCH_HOME" \
    "Give the stack a folder whose path has at most 60 characters: STOREBENCH_HOME=..."

# Checked before any installation: the user must install Go.
command -v go > /dev/null || fail "Missing: Go $needed_go or newer (Debian's own is too old)." \
    "Unpack a release from https://go.dev/dl and put its bin folder on PATH."
found=$(GOTOOLCHAIN=local XDG_CONFIG_HOME="$TMPDIR" go env GOVERSION | sed 's/^go//')
[ "$(printf '%s\n' "$needed_go" "$found" | sort -V | head -n 1)" = "$needed_go" ] ||
    fail "Go is too old: $found at $(command -v go), $needed_go or newer is needed (https://go.dev/dl)."

missing=
need() { # COMMAND PACKAGE
    command -v "$1" > /dev/null || [ -e "$1" ] || missing="$missing $2"
}
need containerd containerd
need runc runc
need /usr/lib/cni/bridge containernetworking-plugins
need buildah buildah
need mmdebstrap mmdebstrap
need ip iproute2
need iptables iptables
need unshare util-linux
need setpriv util-linux
need mvn maven
need javac openjdk-17-jdk-headless
need mount mount
need curl curl
need ssh-keygen openssh-client
need /etc/ssl/certs/ca-certificates.crt ca-certificates
/usr/bin/python3 -c 'import ensurepip, venv' 2> /dev/null || missing="$missing python3-venv"

# shellcheck disable=SC2086 # a list of words
[ -z "$missing" ] || local/install $missing

/usr/bin/python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' ||
    fail "The pinned environment is for Python 3.11, and this is $(/usr/bin/python3 --version): use Debian 12."
local/isolated true || fail "Cannot mount an overlay in $STOREBENCH_HOME. In a container, start it privileged;" \
    "on a file system without overlays or inside /var or /run, choose another folder: STOREBENCH_HOME=..."
# Report conditions that prevent the stack's start before a build of many minutes.
/usr/bin/python3 -m local.stack.host
