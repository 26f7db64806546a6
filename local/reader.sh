#!/bin/sh
# Builds the Java program that reads Delta tables, for tests on the host. Pods have the program from their image.
# usage: reader.sh TARGET
set -eu
target=$1
cp -r images/jvm/reader "$TMPDIR/reader"
rm -rf "$TMPDIR/reader/target"
# Artifacts last only as long as the step, and never go to the user's ~/.m2. Maven's run is too short to benefit from the optimizing compiler.
export MAVEN_OPTS="-XX:-UsePerfData -XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${MAVEN_OPTS:-}"
mvn --batch-mode --strict-checksums --file "$TMPDIR/reader/pom.xml" -Dmaven.repo.local="$TMPDIR/maven" package
images/jvm/check-jars "$TMPDIR/reader"
rm -rf "$target"
mv "$TMPDIR/reader/target/lib" "$target"
mv "$TMPDIR/reader/target/reader.jar" "$target"
