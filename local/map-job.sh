#!/bin/sh
# Builds the job of the study map_formats that is written in Go, and the program that tries its codecs; before that, tests both.
set -eu
export CGO_ENABLED=0 GOTOOLCHAIN=local GOMODCACHE="$TMPDIR/mod" GOCACHE="$TMPDIR/build"
export GOENV="${GOENV:-${XDG_CONFIG_HOME:-$HOME/.config}/go/env}" XDG_CONFIG_HOME="$TMPDIR/config"  # as in go-build
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
