# Sourced: makes buildah use the stack's own image store instead of the machine's containers.conf.
mkdir -p "$STOREBENCH_HOME/images/storage" "$STOREBENCH_HOME/run/buildah"
cat > "$STOREBENCH_HOME/images/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$STOREBENCH_HOME/images/storage"
runroot = "$STOREBENCH_HOME/run/buildah"
END
export CONTAINERS_STORAGE_CONF="$STOREBENCH_HOME/images/storage.conf"
