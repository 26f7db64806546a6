#!/bin/sh
# Starts Cassandra as the publisher's image does: CASSANDRA_CLUSTER_NAME, CASSANDRA_SEEDS and CASSANDRA_LISTEN_ADDRESS define the node's
# cluster, MAX_HEAP_SIZE sets the heap, and JVM_EXTRA_OPTS adds options of the JVM. Without MAX_HEAP_SIZE, the heap is half of the container's
# memory.
set -eu
[ "${1:-cassandra}" = cassandra ] || exec "$@"
home=${CASSANDRA_HOME:-/opt/cassandra} conf=${CASSANDRA_CONF:-/etc/cassandra} data=${CASSANDRA_DATA:-/var/lib/cassandra}
address=${CASSANDRA_LISTEN_ADDRESS:-auto}
[ "$address" != auto ] || address=$(hostname -i | cut -d ' ' -f 1)
sed -e "s|@NAME@|${CASSANDRA_CLUSTER_NAME:-Test Cluster}|; s|@SEEDS@|${CASSANDRA_SEEDS:-$address}|; s|@ADDRESS@|$address|; s|@DATA@|$data|" \
    "$home/conf/cassandra.yaml" > "$conf/cassandra.yaml"
if [ -n "${MAX_HEAP_SIZE:-}" ]; then
    heap="-Xms$MAX_HEAP_SIZE -Xmx$MAX_HEAP_SIZE"
else
    heap='-XX:InitialRAMPercentage=50 -XX:MaxRAMPercentage=50'
fi
# shellcheck disable=SC2086 # lists of options
exec java "@$home/conf/jvm.options" $heap -javaagent:"$(echo "$home"/lib/jamm-*.jar)" -Dcassandra.config="file://$conf/cassandra.yaml" \
    -Dcassandra.storagedir="$data" -Dlogback.configurationFile="$home/conf/logback.xml" -Dcassandra-foreground=yes ${JVM_EXTRA_OPTS:-} \
    -cp "$home/conf:$home/lib/*" org.apache.cassandra.service.CassandraDaemon
