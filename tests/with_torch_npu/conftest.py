"""Fixtures, and mistakes planted on request."""

from __future__ import annotations

from collections.abc import Callable

import environment  # noqa: F401
import mistakes
import pytest
import torch
import torch_npu  # noqa: F401
from spy import Spy

import ascendfa
from ascendfa.native.acl import acl

Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mistake", choices=sorted(mistakes.ALL), help="plant one before all tests")


@pytest.fixture(autouse=True, scope="session")
def _warm() -> None:
    """Load what the first call loads, which takes longer than any of the delays."""
    for device in range(2):
        q = torch.zeros(1, 1, 1, 64, dtype=torch.float16, device=f"npu:{device}")
        ascendfa.flash_attention(q, q, q)
        torch.npu.synchronize(device)


@pytest.fixture(autouse=True)
def _mistake(_warm: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    name = request.config.getoption("--mistake")
    if name is not None:
        mistakes.ALL[name](monkeypatch)


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> Callable[..., Tensors]:
    """Return a function that draws q, k, v on the CPU, differently for each test."""
    generator = torch.Generator().manual_seed(sum(map(ord, request.node.name)))

    def make(*shape: int, seq_k: int = 0, dtype: torch.dtype = torch.float16) -> Tensors:
        batch, heads, seq, dim = shape or (1, 2, 33, 64)
        shapes = [(batch, heads, n, dim) for n in (seq, seq_k or seq, seq_k or seq)]
        q, k, v = (torch.randn(s, generator=generator).to(dtype) for s in shapes)
        return q, k, v

    return make


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    """Record the calls ascendfa makes into the toolkit."""
    return Spy(monkeypatch, acl().libraries)


@pytest.fixture(autouse=True)
def _leave_nothing_behind() -> object:
    yield
    torch.npu.set_device(0)
    for device in range(torch.npu.device_count()):
        torch.npu.synchronize(device)
    torch.npu.empty_cache()
