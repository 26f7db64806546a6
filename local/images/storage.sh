# Sourced: points buildah at an image store of the stack's own, whatever the machine's containers.conf says.
mkdir -p "$STOREBENCH_HOME/images/storage" "$STOREBENCH_HOME/run/buildah"
cat > "$STOREBENCH_HOME/images/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$STOREBENCH_HOME/images/storage"
runroot = "$STOREBENCH_HOME/run/buildah"
END
export CONTAINERS_STORAGE_CONF="$STOREBENCH_HOME/images/storage.conf"
