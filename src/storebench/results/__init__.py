"""The results in Postgres: their schema, writing, reading, statistics and printing."""
