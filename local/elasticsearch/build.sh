#!/bin/sh
# Assembles the embedded Elasticsearch from the server's jars, a Java runtime, and the two classes beside this file.
# usage: build.sh JAVA_HOME TARGET   (JAVA_HOME: Java 21 or newer; Maven itself runs on Debian's)
set -eu
java=$1 target=$2
here=$PWD/local/elasticsearch
case $(uname -m) in
    x86_64) platform=linux-x64 ;;
    aarch64) platform=linux-aarch64 ;;
    *) platform=linux-$(uname -m) ;;
esac
rm -rf "$target.new"
mkdir -p "$target.new"
cd "$target.new"

# Artifacts last only as long as the step, and never go to the user's ~/.m2. Maven's run is too short to benefit from the optimizing compiler.
export MAVEN_OPTS="-XX:-UsePerfData -XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${MAVEN_OPTS:-}"
mvn --batch-mode --strict-checksums --file "$here/pom.xml" -Dmaven.repo.local="$TMPDIR/maven" \
    -Dtarget="$PWD" -Dcompiler="$TMPDIR/compiler" package
find lib modules -name '*.jar' | LC_ALL=C sort | xargs sha256sum > "$TMPDIR/jars.sha256"
# Maven has no lock file: jars.sha256 lists the tested jars with their hashes.
diff "$here/jars.sha256" "$TMPDIR/jars.sha256" || {
    echo "The jars are not those that $here/jars.sha256 names (<); a new version needs the new list (>) there." >&2
    exit 1
}
# Hard links, because the runtime is in the Python environment, which the server's user may not enter.
cp -al "$java" jre 2> /dev/null || cp -a "$java" jre

class_path=$(find lib -name '*.jar' | paste -sd :)
compile() { # CLASS FOLDER
    jre/bin/java -XX:-UsePerfData -jar "$TMPDIR"/compiler/ecj-*.jar -21 -nowarn -proc:none -cp "$class_path" -d "$2" "$here/$1.java"
}
compile Server classes
compile RootPlugin "$TMPDIR/root"
version=$(ls lib/elasticsearch-[0-9]*.jar | sed 's/.*elasticsearch-\(.*\)\.jar/\1/')
mkdir modules/root config data logs
(cd "$TMPDIR/root" && /usr/bin/python3 -m zipfile -c "$target.new/modules/root/root.jar" ./*.class)
cat > modules/root/plugin-descriptor.properties << DESCRIPTOR
name=root
description=GET /
version=$version
elasticsearch.version=$version
java.version=21
classname=RootPlugin
DESCRIPTOR
# The plugin's jar includes its descriptor. A module that is loaded from the class path, as here, has no module name.
unzip() { /usr/bin/python3 -c 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())' "$@"; }
unzip modules/transport-netty4/transport-netty4-*.jar META-INF/es-plugins/transport-netty4/plugin-descriptor.properties |
    grep -v '^modulename=' > modules/transport-netty4/plugin-descriptor.properties
cp "$here/log4j2.properties" "$here/jvm.options" config
mkdir -p lib/platform/$platform
ln -s "/usr/lib/$(uname -m)-linux-gnu/libzstd.so.1" lib/platform/$platform/libzstd.so

chmod -R go+rX .  # the server has a user of its own

rm -rf "$target"
mv "$target.new" "$target"
