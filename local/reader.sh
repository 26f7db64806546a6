#!/bin/sh
# Builds the Java program that reads Delta tables: the tests run it on the host, the pods have one of their own.
# usage: reader.sh TARGET
set -eu
target=$1
cp -r images/jvm/reader "$TMPDIR/reader"
rm -rf "$TMPDIR/reader/target"
# Artifacts are kept only as long as the step runs, never in the user's own ~/.m2. Maven runs too short for the better compiler.
export MAVEN_OPTS="-XX:-UsePerfData -XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${MAVEN_OPTS:-}"
mvn --batch-mode --strict-checksums --file "$TMPDIR/reader/pom.xml" -Dmaven.repo.local="$TMPDIR/maven" package
images/jvm/check-jars "$TMPDIR/reader"
rm -rf "$target"
mv "$TMPDIR/reader/target/lib" "$target"
mv "$TMPDIR/reader/target/reader.jar" "$target"
