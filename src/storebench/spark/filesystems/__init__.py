"""The file systems that Spark can use. Each module has the addresses and settings of a file system."""
