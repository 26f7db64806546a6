"""Track the data, Secrets and servers that runs leave, and close runs that were stopped."""
