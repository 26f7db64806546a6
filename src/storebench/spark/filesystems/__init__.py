"""File systems that Spark can use: a small module for each, with its addresses and settings."""
