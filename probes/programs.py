"""Where the programs stand that probes ask: on the person's PATH, and where systems keep those of root."""

from __future__ import annotations

from collections.abc import Mapping

from gpuhelp.probes.machine import Machine

SYSTEM_FOLDERS = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin")


def find_program(machine: Machine, *names: str, folders: tuple[str, ...] = ()) -> str | None:
    """The first program there is, by name and then by folder, as the machine spells it; None: none is."""
    on_path = [each for each in machine.environ.get("PATH", "").split(":") if each.startswith("/")]
    places = (
        f"{folder.rstrip('/')}/{name}" for name in names for folder in (*on_path, *SYSTEM_FOLDERS, *folders)
    )
    return next((place for place in places if machine.is_file(place)), None)


def plain_environ(machine: Machine) -> Mapping[str, str]:
    """The person's environment with messages in English, which is what probes can read."""
    return {**machine.environ, "LC_ALL": "C"}
