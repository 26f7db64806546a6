# Runs one node. A variable with a dot in its name is a setting, as in the official image. This image has no security and no geo data.
set -eu
home=/usr/share/elasticsearch
# The shell drops variables with dots from its own environment.
set -- $(tr '\0' '\n' < /proc/$$/environ | grep -E '^[a-z_]+(\.[a-z_]+)+=' | grep -vE '^(xpack|ingest)\.')
# shellcheck disable=SC2086 # options are words
exec $home/jre/bin/java $ES_JAVA_OPTS @$home/config/jvm.options -Des.path.home=$home -Djava.io.tmpdir=/tmp \
    -cp "$home/classes:$home/lib/*" Server node.name=storebench http.host=0.0.0.0 transport.host=127.0.0.1 "$@"
