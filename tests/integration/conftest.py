"""The stub toolkit as the public function's runtime."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.stub_toolkit import StubControl

from ascendfa import api
from ascendfa.native.acl import Acl
from ascendfa.native.backend import Backend
from ascendfa.native.loader import Toolkit


@pytest.fixture
def stub(stub_root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubControl]:
    control = StubControl(stub_root)
    control.reset()
    runtime = Acl(Toolkit(Backend("emulator", stub_root, "a test says so")))
    monkeypatch.setattr(api, "acl", lambda: runtime)
    yield control
    control.reset()
