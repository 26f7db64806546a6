#!/bin/sh
# Checks what the machine must have. As root on Debian it installs the missing packages, else it names the command for it.
set -eu
needed_go=1.25

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

[ "$(uname -s)" = Linux ] || fail "The embedded stack needs Linux (or set KUBECONFIG and use a cluster of your own)."
[ "$(id -u)" = 0 ] || fail "The embedded stack needs root: it runs a kubelet, which mounts and makes network links."

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
need unshare util-linux
/usr/bin/python3 -c 'import ensurepip, venv' 2> /dev/null || missing="$missing python3-venv"

if [ -n "$missing" ]; then
    # shellcheck disable=SC2086
    set -- apt-get install --yes --no-install-recommends $missing
    [ -e /etc/debian_version ] || fail "Missing:$missing. On Debian: $*"
    echo "installing:$missing"
    # Packages bring services (containerd) that would start at once: this folder's tool forbids it for this one call.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' > $policy
        chmod +x $policy
        trap 'rm -f $policy' EXIT INT TERM
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update --quiet
    "$@" || fail "Could not install what is missing. By hand: apt-get update && $*"
fi

command -v go > /dev/null || fail "Missing: Go $needed_go or newer (Debian's own is too old)." \
    "Unpack a release from https://go.dev/dl and put its bin folder on PATH."
found=$(go env GOVERSION | sed 's/^go//')
[ "$(printf '%s\n' "$needed_go" "$found" | sort -V | head -n 1)" = "$needed_go" ] ||
    fail "Go is too old: $found at $(command -v go), $needed_go or newer is needed."
