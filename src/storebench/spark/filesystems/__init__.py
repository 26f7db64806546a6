"""Where Spark can have its files: a small module for each file system, with its addresses and settings."""
