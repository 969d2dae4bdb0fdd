"""A machine with a CANN that only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import fake_cann
from support.fake_cann import Machine


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_cann.runtime(tmp_path_factory.mktemp("cann"))


@pytest.fixture(scope="module")
def op(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_cann.op_library(tmp_path_factory.mktemp("op") / "libcust_opapi.so")


@pytest.fixture
def machine(tmp_path: Path, libraries: Path, op: Path) -> Machine:
    return Machine(tmp_path, libraries, op)
