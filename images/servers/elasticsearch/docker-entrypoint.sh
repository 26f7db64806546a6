#!/bin/bash
# Starts Elasticsearch as the publisher's image does. With the command `eswrapper`, each environment variable with a dot in its name is a
# setting, and ES_JAVA_OPTS has options of the JVM. Without a heap option, the heap is half of the container's memory.
set -euo pipefail
[ "${1:-eswrapper}" = eswrapper ] || exec "$@"
home=/usr/share/elasticsearch
settings=()
while IFS= read -r -d '' variable; do
    case ${variable%%=*} in
        # Ignore settings of unpublished modules, which the image lacks: an unknown setting would be an error.
        xpack.* | ingest.geoip.*) echo "without effect here: $variable" ;;
        [a-z]*.*) settings+=("$variable") ;;
    esac
done < /proc/self/environ
read -r -a options <<< "${ES_JAVA_OPTS:-}"
case " ${ES_JAVA_OPTS:-}" in
    *" -Xmx"* | *" -Xms"*) ;;
    *) options+=(-XX:InitialRAMPercentage=50 -XX:MaxRAMPercentage=50) ;;
esac
exec $home/jre/bin/java "@$home/config/jvm.options" "${options[@]}" -Des.path.home=$home -cp "$home/classes:$home/lib/*" \
    Server "${settings[@]}"
