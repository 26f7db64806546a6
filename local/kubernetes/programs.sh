#!/bin/sh
# Unpacks etcd and kubectl from Debian's packages: they would be a ninth of the packages to compile with Kubernetes.
set -eu
local/forky "$TMPDIR/tree" etcd-server,kubectl
for program in etcd kubectl; do
    install "$TMPDIR/tree/usr/bin/$program" "$STOREBENCH_HOME/bin/.$program"
    mv "$STOREBENCH_HOME/bin/.$program" "$STOREBENCH_HOME/bin/$program"
done
