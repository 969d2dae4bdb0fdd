"""Options, the toolkit the tests run on, and workers with a chip and a mode of their own."""

from __future__ import annotations

import importlib.metadata
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# These need torch_npu and an environment of their own: scripts/test_torch_npu.
collect_ignore = ["with_torch_npu"]


def _installed_package() -> Path | None:
    try:
        where = importlib.metadata.distribution("ascendfa").locate_file("ascendfa")
    except importlib.metadata.PackageNotFoundError:
        return None
    package = Path(str(where))
    return package if (package / "_toolkit" / "lib64").is_dir() else None


# The checkout's package has no toolkit inside, so it must not hide an installed one that has;
# whoever names a toolkit wants to test the checkout.
if "ASCENDFA_EMULATOR_HOME" not in os.environ:
    if _installed_package() is not None:
        sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != ROOT]
elif str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

settings.register_profile(
    "ascendfa",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("ascendfa")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ascendfa")
    group.addoption("--backend", choices=("emulator", "npu"), default="emulator")
    group.addoption("--chips", default="Ascend910B3", help="SoCs to emulate, comma-separated")
    group.addoption("--seed", type=int, default=2026, help="seed of the random inputs")


def pytest_configure(config: pytest.Config) -> None:
    # Jobs in the background start with SIGINT ignored, and so would every child that is to be
    # interrupted.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["ASCENDFA_BACKEND"] = config.getoption("--backend")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device_soc" in metafunc.fixturenames:
        on_npu = metafunc.config.getoption("--backend") == "npu"
        socs = ["device"] if on_npu else metafunc.config.getoption("--chips").split(",")
        metafunc.parametrize("device_soc", socs, scope="session")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that differ between tests, but not between runs."""
    name = [ord(c) for c in request.node.name]
    return np.random.default_rng([request.config.getoption("--seed"), *name])


@pytest.fixture(scope="session")
def stub_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from support import stub_toolkit

    return stub_toolkit.build(tmp_path_factory.mktemp("stub"))


@pytest.fixture(scope="session")
def worker_pool() -> Iterator[Callable[[str, str], object]]:
    """Return a function (soc, mode) -> worker; workers live as long as the session."""
    from support.worker import Worker

    workers: dict[tuple[str, str], Worker] = {}

    def get(soc: str, mode: str) -> Worker:
        if (soc, mode) not in workers:
            workers[soc, mode] = Worker(soc, mode)
        return workers[soc, mode]

    yield get
    for worker in workers.values():
        worker.close()
