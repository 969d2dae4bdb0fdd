"""The operators the emulated toolkit brings along for tensors: copies and fills, as on the CPU."""

from __future__ import annotations

import pytest
import torch

NUMBERS = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.bool,
]
# torch_npu itself makes float32 of float64 on the way.
CONVERTIBLE = [dtype for dtype in NUMBERS if dtype != torch.float64]
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def same(result: torch.Tensor, expected: torch.Tensor) -> None:
    """Compare bit by bit, which also tells NaN and zeros apart."""
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    bits = BITS[expected.element_size()]
    assert torch.equal(result.cpu().contiguous().view(bits), expected.contiguous().view(bits))


def numbers(dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(-4, 56).mul(2).add(1).reshape(3, 4, 5).to(dtype)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
class TestCopies:
    def test_a_clone(self, dtype):
        x = numbers(dtype)
        same(x.to("npu").clone(), x)

    def test_permuted_axes_made_contiguous(self, dtype):
        x = numbers(dtype)
        same(x.to("npu").permute(2, 0, 1).contiguous(), x.permute(2, 0, 1).contiguous())

    def test_expanded_axes_made_contiguous(self, dtype):
        x = numbers(dtype)[:, :1]
        same(x.to("npu").expand(3, 6, 5).contiguous(), x.expand(3, 6, 5).contiguous())

    def test_into_a_view_only_the_view_changes(self, dtype):
        x, y = numbers(dtype), torch.zeros(3, 4, 10, dtype=dtype)
        on_npu = y.to("npu")
        on_npu[:, 1:3, ::2].copy_(x.to("npu")[:, :2])
        y[:, 1:3, ::2] = x[:, :2]
        same(on_npu, y)

    def test_a_smaller_shape_is_repeated(self, dtype):
        row = numbers(dtype)[0, 0]
        on_npu = torch.zeros(2, 3, 5, dtype=dtype).to("npu")
        same(on_npu.copy_(row.to("npu")), row.expand(2, 3, 5))


@pytest.mark.parametrize("source", CONVERTIBLE, ids=str)
@pytest.mark.parametrize("target", CONVERTIBLE, ids=str)
def test_conversion(source, target):
    # Within the range of every type.
    x = torch.tensor([0.0, 1.0, 2.6, 100.0, 127.0]).to(source)
    same(x.to("npu").to(target), x.to(target))


def test_rounding_between_floats_is_that_of_the_cpu():
    x = torch.randn(1000) * torch.logspace(-9, 6, 1000)
    x = torch.cat([x, torch.tensor([float("inf"), float("-inf"), 65519.0, 65520.0, 2**-25, -0.0])])
    for target in (torch.float16, torch.bfloat16):
        same(x.to("npu").to(target), x.to(target))


def test_nan_stays_nan():
    x = torch.tensor([float("nan")]).to("npu")
    assert x.half().cpu().isnan().all()
    assert x.bfloat16().cpu().isnan().all()


def test_64_bits_of_integers_survive_a_change_of_width_and_strides():
    x = torch.tensor([[2**62 + 1, -(2**62) - 1], [3, 2**31]])
    same(x.to("npu").t().contiguous(), x.t().contiguous())
    same(x[1:, :1].to("npu").to(torch.int32), x[1:, :1].to(torch.int32))


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_fills(dtype):
    same(torch.zeros(3, 5, dtype=dtype, device="npu"), torch.zeros(3, 5, dtype=dtype))
    same(torch.ones(3, 5, dtype=dtype, device="npu"), torch.ones(3, 5, dtype=dtype))
    same(torch.full((3, 5), 7, dtype=dtype, device="npu"), torch.full((3, 5), 7, dtype=dtype))


def test_a_view_is_filled_and_nothing_else():
    x, y = torch.zeros(4, 6), torch.zeros(4, 6, device="npu")
    x[1:3, ::2] = 2.5
    y[1:3, ::2] = 2.5
    same(y, x)


def test_an_operator_that_is_missing_fails_and_leaves_the_process_usable():
    x = torch.ones(3, device="npu")
    with pytest.raises(RuntimeError):
        x + x
    same(x.clone(), torch.ones(3))


def test_devices_copy_to_each_other():
    x = numbers(torch.float16)
    same(x.to("npu:0").to("npu:1"), x)
