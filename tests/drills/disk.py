"""A disk that is full for a store alone."""

import subprocess
from contextlib import contextmanager

import psycopg

from local.stack.settings import Settings
from tests.drills.drill import pid

SIZE = "24m"
SPACE = "storebench_drill"


@contextmanager
def full_for_mongodb():
    """New collections of the embedded MongoDB-protocol server are on a disk of SIZE: its PostgreSQL's default tablespace."""
    settings = Settings()
    folder = settings.data / "documentdb" / SPACE  # where it is kept; the server sees it in its own root
    folder.mkdir(mode=0o700)
    mount_point = settings.postgres_root / "data" / "documentdb" / SPACE
    inside = ["nsenter", "--mount", f"--target={pid('postgres-documentdb')}"]
    options = f"size={SIZE},mode=0700,uid=64932,gid=64932"
    subprocess.run([*inside, "mount", "-t", "tmpfs", "-o", options, "tmpfs", mount_point], check=True)
    server = psycopg.connect(
        host=str(settings.data / "documentdb"), port=5432, user="postgres", autocommit=True
    )
    try:
        with server:
            server.execute(f"CREATE TABLESPACE {SPACE} LOCATION '/data/documentdb/{SPACE}'")
            server.execute(f"ALTER SYSTEM SET default_tablespace = {SPACE}")
            server.execute("SELECT pg_reload_conf()")
            try:
                yield
            finally:
                server.execute("ALTER SYSTEM RESET default_tablespace")
                server.execute("SELECT pg_reload_conf()")
                server.execute(f"DROP TABLESPACE {SPACE}")
    finally:
        subprocess.run([*inside, "umount", mount_point], check=True)
        folder.rmdir()
