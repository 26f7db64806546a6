# Sets the environment of Go for a step, and defines the checks of a folder's Go code. Steps source this file.
export CGO_ENABLED=0 GOTOOLCHAIN=local GOMODCACHE="$TMPDIR/mod" GOCACHE="$TMPDIR/build"
export GOENV="${GOENV:-${XDG_CONFIG_HOME:-$HOME/.config}/go/env}" XDG_CONFIG_HOME="$TMPDIR/config"  # the same as in go-build
export GOFLAGS="-trimpath -buildvcs=false -mod=readonly"

# Checks the format of the Go code in the current folder, and runs its tests.
check_go() {
    unformatted=$(gofmt -l .)
    [ -z "$unformatted" ] || { echo "Not in the format of gofmt: $unformatted" >&2; exit 1; }
    go vet ./...
    go test ./...
}
