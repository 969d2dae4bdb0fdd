"""What the checks look at, so that tests can put a fake tree in its place."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ascendfa.cli.packages import Package, registered
from ascendfa.cli.toolkits import ToolkitTree, find

__all__ = ["Context", "ProbeAnswer"]

# A first launch on a cold device takes seconds; an op that waits for a flag nobody sets, forever.
PROBE_SECONDS: Final = 300


def _installed(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class ProbeAnswer:
    """What a probe process reported.

    Attributes
    ----------
    data
        Its answer, empty if it gave none.
    failure
        Why it gave none: a crash, a hang, an exception; empty if it answered.
    log
        The end of what it printed.
    """

    data: dict[str, Any]
    failure: str = ""
    log: str = ""


@dataclass
class Context:
    """The machine under test, and what was asked.

    Attributes
    ----------
    asked
        ``cann``, ``emulator`` or the folder of a toolkit.
    environ
        The environment, in place of ``os.environ``.
    system
        Folder that stands for ``/``.
    device
        Number of the NPU.
    offline, build
        Whether to leave hardware alone, and whether to look at the compilers.
    versions
        Versions of torch and torch_npu, None for absent.
    python
        Version of Python.
    uid
        Who runs this.
    initial_environ
        The environment this process started with; None reads it from the system.
    loaded
        Libraries this process has mapped; None reads them from the system.
    """

    asked: str = "cann"
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    system: Path = Path("/")
    device: int = 0
    offline: bool = False
    build: bool = False
    versions: Mapping[str, str | None] = field(
        default_factory=lambda: {"torch": _installed("torch"), "torch_npu": _installed("torch-npu")}
    )
    python: tuple[int, int, int] = sys.version_info[:3]
    uid: int = field(default_factory=os.geteuid)
    machine: str = field(default_factory=platform.machine)
    initial_environ: Mapping[str, str] | None = None
    loaded: Sequence[str] | None = None
    probe_seconds: float = PROBE_SECONDS
    # Found out by one check, used by later ones.
    soc: str | None = None
    unit: str | None = None
    device_count: int = 0
    usable: bool = True

    @cached_property
    def tree(self) -> ToolkitTree | None:
        """The toolkit, None if there is none."""
        return find(self.asked, self.environ, self.system)

    @property
    def emulated(self) -> bool:
        """Whether the device is the emulated one."""
        return self.tree is not None and self.tree.kind == "emulator"

    @cached_property
    def device_nodes(self) -> list[Path]:
        """The device files of NPUs."""
        nodes = (self.system / "dev").glob("davinci*")
        return sorted(p for p in nodes if p.name.removeprefix("davinci").isdigit())

    @property
    def has_device(self) -> bool:
        """Whether there is an NPU to run on, emulated or not."""
        return self.emulated or bool(self.device_nodes)

    @cached_property
    def packages(self) -> list[Package]:
        """Registered packages, the one that wins first."""
        return [] if self.tree is None else registered(self.tree.opp(self.environ), self.environ)

    @cached_property
    def package(self) -> Package | None:
        """The package whose attention CANN would run: the first that has the operator."""
        return next((p for p in self.packages if defines_attention(p)), None)

    def which(self, program: str) -> str | None:
        """Find a program on the PATH of the environment under test."""
        return shutil.which(program, path=self.environ.get("PATH", ""))

    def probe(self, job: str, **arguments: Any) -> ProbeAnswer:
        """Do something that may crash or hang in a process of its own.

        Parameters
        ----------
        job
            A job of `ascendfa.cli.probe`.
        **arguments
            JSON values for it.
        """
        environment = dict(self.environ)
        if self.tree is not None:
            environment |= self.tree.environment()
        package_parent = str(Path(__file__).resolve().parents[3])
        environment["PYTHONPATH"] = ":".join(
            p for p in (package_parent, environment.get("PYTHONPATH", "")) if p
        )
        if self.emulated and self.tree is not None:
            # What set_env.sh does for CANN: torch_npu looks libraries up by name.
            library_path = (str(self.tree.root / "lib64"), environment.get("LD_LIBRARY_PATH", ""))
            environment["LD_LIBRARY_PATH"] = ":".join(p for p in library_path if p)
        # A missing operator of torch_npu is then an error at once, not a silent one later.
        environment.setdefault("ACL_OP_INIT_MODE", "2")
        # torch would otherwise open the NPU's libraries before the probe does.
        environment.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
        command = [sys.executable, "-P" if sys.version_info >= (3, 11) else "-s"]
        command += ["-m", "ascendfa.cli.probe", job, json.dumps(arguments)]
        try:
            done = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                timeout=self.probe_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ProbeAnswer({}, f"gave no answer within {self.probe_seconds:.0f} s")
        log = done.stderr.decode(errors="replace").strip()[-2000:]
        try:
            return ProbeAnswer(json.loads(done.stdout), log=log)
        except ValueError:
            pass
        if done.returncode < 0:
            return ProbeAnswer({}, f"was killed by signal {-done.returncode}", log)
        return ProbeAnswer({}, f"ended with code {done.returncode} and no answer", log)


def defines_attention(package: Package) -> bool:
    """Whether a package has our operator, by its description or by its header."""
    try:
        if "FlashAttention" in package.ops():
            return True
    except (OSError, ValueError):
        pass
    return (package.folder / "op_api" / "include" / "aclnn_flash_attention.h").is_file()
