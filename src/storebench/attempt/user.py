"""Name the user of a pod: clusters such as OpenShift run pods as a random user without an entry in /etc/passwd."""

from __future__ import annotations

import os
import pwd
from collections.abc import MutableMapping
from pathlib import Path

NAME = "storebench"  # as in this project's images
SCRATCH = Path("/tmp")  # the only folder that a pod can write
USERS = Path("/etc/passwd")
LIBRARIES = Path("/usr/lib")
WRAPPER = "*/libnss_wrapper.so"  # answers from its own file, in programs started after this one; present in images with a JVM


def give_name(
    environment: MutableMapping[str, str] = os.environ,
    *,
    scratch: Path = SCRATCH,
    libraries: Path = LIBRARIES,
) -> None:
    """Set the variables that give programs the user's name and home, if the user has no name.

    Python reads the variables. Java asks the system: Hadoop's client fails for a user without a name.
    """
    uid, gid = os.getuid(), os.getgid()
    try:
        pwd.getpwuid(uid)
    except KeyError:
        pass
    else:
        return
    environment.update({"USER": NAME, "LOGNAME": NAME, "HOME": str(scratch)})
    if wrapper := next(iter(sorted(libraries.glob(WRAPPER))), None):
        others = [line for line in USERS.read_text().splitlines() if not line.startswith(f"{NAME}:")]
        users = scratch / "passwd"
        users.write_text("\n".join([*others, f"{NAME}:x:{uid}:{gid}::{scratch}:/usr/sbin/nologin", ""]))
        environment.update(
            {
                "LD_PRELOAD": str(wrapper),
                "NSS_WRAPPER_PASSWD": str(users),
                "NSS_WRAPPER_GROUP": "/etc/group",
            }
        )
