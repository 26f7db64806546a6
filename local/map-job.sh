#!/bin/sh
# Tests and builds the Go job of the study map_formats, and the program that tests its codecs.
set -eu
. local/go-check.sh
# A copy: generated code must not remain in the checkout.
rm -rf "$TMPDIR/compiled"
cp -r images/formats/compiled "$TMPDIR/compiled"
cd "$TMPDIR/compiled"
go run ./generate
check_go
for program in .=map-job ./codecs=map-codecs; do
    go build -v -ldflags '-s -w' -o "$STOREBENCH_HOME/bin/.map" "${program%=*}"
    mv "$STOREBENCH_HOME/bin/.map" "$STOREBENCH_HOME/bin/${program#*=}"
done
