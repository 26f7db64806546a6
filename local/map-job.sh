#!/bin/sh
# Tests and builds the Go job of the study map_formats, and the program that tests its codecs.
set -eu
export CGO_ENABLED=0 GOTOOLCHAIN=local GOMODCACHE="$TMPDIR/mod" GOCACHE="$TMPDIR/build"
export GOENV="${GOENV:-${XDG_CONFIG_HOME:-$HOME/.config}/go/env}" XDG_CONFIG_HOME="$TMPDIR/config"  # the same as in go-build
export GOFLAGS="-trimpath -buildvcs=false -mod=readonly"
# A copy: the generated code is left in no checkout.
rm -rf "$TMPDIR/compiled"
cp -r images/formats/compiled "$TMPDIR/compiled"
cd "$TMPDIR/compiled"
go run ./generate
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "Not in the format of gofmt: $unformatted" >&2; exit 1; }
go vet ./...
go test ./...
for program in .=map-job ./codecs=map-codecs; do
    go build -v -ldflags '-s -w' -o "$STOREBENCH_HOME/bin/.map" "${program%=*}"
    mv "$STOREBENCH_HOME/bin/.map" "$STOREBENCH_HOME/bin/${program#*=}"
done
