"""Turn a pod and its message into the result of an attempt."""
