"""`python -m gpuhelp` is the `gpuhelp` command."""

from gpuhelp.cli import entrypoint

entrypoint()
