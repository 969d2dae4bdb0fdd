"""Whether the package was registered before CANN read the environment, which it does once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, fail, ok

__all__ = ["check_early"]

_NAME = "ASCEND_CUSTOM_OPP_PATH"


def _started_with() -> Mapping[str, str]:
    try:
        text = Path("/proc/self/environ").read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def _mapped() -> list[str]:
    try:
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    except OSError:
        return []
    return sorted({line.split(maxsplit=5)[5] for line in lines if line.count("/") > 0})


def check_early(context: Context) -> Iterator[Result]:
    """Compare the environment now with the one CANN saw, if CANN is open already.

    Something that runs at every start of Python (sitecustomize, a .pth file, torch's autoload of
    torch_npu) may open CANN before a later line sets the path.
    """
    loaded = _mapped() if context.loaded is None else context.loaded
    libraries = [p for p in loaded if Path(p).name.startswith("libascendcl.so")]
    before = _started_with() if context.initial_environ is None else context.initial_environ
    now = context.environ.get(_NAME, "")
    if libraries and before.get(_NAME, "") != now:
        yield fail(
            "vendor.early",
            f"{_NAME} was set to {now or 'nothing'} after this process had opened {libraries[0]}",
            f"export {_NAME} in the shell, before Python starts; for torch's autoload set "
            "TORCH_DEVICE_BACKEND_AUTOLOAD=0",
        )
        return
    yield ok("vendor.early", f"{_NAME} is as it was when this process started")
