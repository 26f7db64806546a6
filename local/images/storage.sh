# Sourced: makes buildah use the stack's own image store instead of the machine's containers.conf.
mkdir -p "$STOREBENCH_HOME/images/storage" "$STOREBENCH_HOME/run/buildah"
# Two builds at once write this file: each renames a file of its own, so that no build reads an empty file.
cat > "$STOREBENCH_HOME/images/storage.conf.$$" <<END
[storage]
driver = "overlay"
graphroot = "$STOREBENCH_HOME/images/storage"
runroot = "$STOREBENCH_HOME/run/buildah"
END
mv -f "$STOREBENCH_HOME/images/storage.conf.$$" "$STOREBENCH_HOME/images/storage.conf"
export CONTAINERS_STORAGE_CONF="$STOREBENCH_HOME/images/storage.conf"
