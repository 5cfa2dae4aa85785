"""The start of the packed snapshot program. Runs in any Python from 3.6 on as far as to say which is needed.

The modules are unpacked into a temporary folder while it runs: some of them are scripts that are handed to
other interpreters, which cannot start them out of an archive. Where no folder can be written, they are left
out, and nvidia-smi is asked instead of NVML.
"""

import os
import sys

OLDEST = (3, 8)
NEWER = ("python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python3.9", "python3.8")
AGAIN = "GPUHELP_SNAPSHOT_AGAIN"


def main() -> int:
    """The exit status: 2 where this Python is too old and there is no newer one."""
    if sys.version_info[:2] < OLDEST:
        return run_newer()
    return run_here()


def run_newer() -> int:
    """Start again with a newer Python of the PATH; comes back only where there is none."""
    if not os.environ.get(AGAIN):
        for name in NEWER:
            for folder in os.environ.get("PATH", "").split(os.pathsep):
                path = os.path.join(folder, name)  # noqa: PTH118
                if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113
                    os.environ[AGAIN] = "1"
                    os.execv(path, [path, *sys.argv])
    needed, found = (".".join(str(part) for part in version[:2]) for version in (OLDEST, sys.version_info))
    sys.stderr.write(f"this needs Python {needed} or newer, and this is {found}: start it with another one\n")
    return 2


def run_here() -> int:
    """Unpack, run, and take the folder away again."""
    import shutil
    import tempfile
    import zipfile

    try:
        folder = tempfile.mkdtemp(prefix="gpuhelp-")
    except OSError:
        folder = ""
    try:
        if folder:
            with zipfile.ZipFile(sys.argv[0]) as packed:
                packed.extractall(folder)
            sys.path.insert(0, folder)
        from gpuhelp.probes.__main__ import leave
        from gpuhelp.probes.__main__ import main as snapshot

        status = snapshot()
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    leave(status)
    return status


if __name__ == "__main__":
    sys.exit(main())
