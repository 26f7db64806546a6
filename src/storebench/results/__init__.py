"""The results in Postgres: writing them, reading them, and their migrations."""
