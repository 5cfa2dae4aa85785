"""The memory a control group allows, from the files of cgroup v1 and v2: containers and jobs live in one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from gpuhelp.probes.machine import Machine

MOUNT = "/sys/fs/cgroup"
NO_LIMIT_BYTES = 1 << 60  # v1 has no word for "no limit", but writes the largest number of pages


def memory_limits(machine: Machine) -> tuple[int, ...] | None:
    """The limits on this process in bytes, smallest first; () if there is none, None if none can be read.

    Each level of the hierarchy limits. In a container the path of a process may be the host's while the mount
    shows the container's own group as its top, so that levels which are not there are passed over.
    """
    texts = [
        text for path in _limit_files(machine.read("/proc/self/cgroup") or "") if (text := machine.read(path))
    ]
    if not texts:
        return None
    return tuple(sorted({limit for text in texts if (limit := parse_limit(text)) is not None}))


def parse_limit(text: str) -> int | None:
    """Bytes of memory.max (v2: a number or `max`) or memory.limit_in_bytes (v1); None for no limit."""
    word = text.strip()
    return int(word) if word.isdecimal() and len(word) < 30 and int(word) < NO_LIMIT_BYTES else None


def _limit_files(self_cgroup: str) -> Iterator[str]:
    """Where limits may stand, for the lines `number:controllers:path` of /proc/self/cgroup."""
    for line in self_cgroup.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            mount, name = MOUNT, "memory.max"
        elif "memory" in controllers.split(","):
            mount, name = f"{MOUNT}/memory", "memory.limit_in_bytes"
        else:
            continue
        group = PurePosixPath(path or "/")
        for level in (group, *group.parents):
            yield f"{mount}/{str(level).lstrip('/')}/{name}"
