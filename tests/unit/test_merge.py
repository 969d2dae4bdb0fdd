from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ascendfa
from ascendfa import errors
from ascendfa.reference import attention_reference


def parts(rng, cuts=(3, 4, 9), causal=False, dtype=np.float64):
    q = rng.standard_normal((2, 3, 5, 4))
    k = rng.standard_normal((2, 3, 12, 4))
    v = rng.standard_normal((2, 3, 12, 6))
    mask = np.ones((5, 12), bool)
    if causal:
        mask = np.tril(mask, -1)  # the first query sees nothing at all
    whole = attention_reference(q, k, v, mask=mask)
    bounds = [0, *cuts, 12]
    pieces = [
        attention_reference(q, k[:, :, a:b], v[:, :, a:b], mask=mask[:, a:b])
        for a, b in itertools.pairwise(bounds)
    ]
    outs = [out.astype(dtype) for out, _ in pieces]
    return outs, [lse for _, lse in pieces], whole


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("cuts", [(), (1,), (3, 4, 9), (6,)])
def test_parts_merge_into_the_whole(rng, cuts, causal):
    outs, lses, (want, want_lse) = parts(rng, cuts, causal)
    out, lse = ascendfa.merge_attention(outs, lses)
    np.testing.assert_allclose(out, want, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(lse, want_lse, rtol=1e-12)


def test_torch_tensors_give_torch_tensors(rng):
    outs, lses, (want, want_lse) = parts(rng, causal=True)
    out, lse = ascendfa.merge_attention(
        [torch.from_numpy(o).half() for o in outs], [torch.from_numpy(x).float() for x in lses]
    )
    assert (out.dtype, lse.dtype) == (torch.float16, torch.float32)
    np.testing.assert_allclose(out.numpy(), want, atol=2e-3)
    np.testing.assert_allclose(lse.numpy(), want_lse, rtol=1e-5)


def test_gradients_flow_through_a_merge(rng):
    outs, lses, _ = parts(rng)
    first = torch.from_numpy(outs[0]).requires_grad_()
    others = [torch.from_numpy(o) for o in outs[1:]]
    out, _ = ascendfa.merge_attention([first, *others], [torch.from_numpy(x) for x in lses])
    out.sum().backward()
    total = np.logaddexp.reduce(np.stack(lses))
    want = np.exp(lses[0] - total)[..., None] * np.ones(4 + 2)
    np.testing.assert_allclose(first.grad.numpy(), want, rtol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_bsnd(rng, kind):
    outs, lses, (want, _) = parts(rng)
    swapped = [kind(o.transpose(0, 2, 1, 3).copy()) for o in outs]
    out, _ = ascendfa.merge_attention(swapped, [kind(x) for x in lses], layout="BSND")
    np.testing.assert_allclose(np.asarray(out).transpose(0, 2, 1, 3), want, rtol=1e-12, atol=1e-14)


def test_types_are_kept(rng):
    outs, lses, _ = parts(rng, dtype=ml_dtypes.bfloat16)
    out, lse = ascendfa.merge_attention(outs, [x.astype(np.float32) for x in lses])
    assert (out.dtype, lse.dtype) == (ml_dtypes.bfloat16, np.float32)


@given(st.lists(st.floats(-1e4, 1e4) | st.just(-np.inf), min_size=1, max_size=5))
def test_any_sums_merge_without_nan(sums):
    outs = [np.full((1, 1), float(i)) for i in range(len(sums))]
    out, lse = ascendfa.merge_attention(outs, [np.array([s]) for s in sums])
    assert np.isfinite(out).all()
    assert lse[0] == pytest.approx(np.logaddexp.reduce(sums), rel=1e-12)


@pytest.mark.parametrize(
    ("outs", "lses", "error", "name"),
    [
        ([], [], errors.InvalidArgumentError, "outs, lses"),
        ([np.ones((2, 3))], [], errors.InvalidArgumentError, "outs, lses"),
        (np.ones((2, 3)), np.ones(2), errors.ArgumentTypeError, "outs"),
        ([np.ones((2, 3))], [np.ones(3)], errors.ShapeError, "lses"),
        ([np.ones((2, 3))] * 2, [np.ones(2), np.ones(3)], errors.ShapeError, r"lses\[1\]"),
        ([np.ones((2, 3)), np.ones((2, 4))], [np.ones(2)] * 2, errors.ShapeError, r"outs\[1\]"),
        ([np.ones((2, 3)), [1]], [np.ones(2)] * 2, errors.ArgumentTypeError, r"outs\[1\]"),
        ([np.ones((2, 3))], [torch.ones(2)], errors.ArgumentTypeError, "lses"),
        ([np.ones((2, 3))], [np.ones(2, np.float16)], errors.DTypeError, "lses"),
        ([np.ones((2, 3), int)], [np.ones(2)], errors.DTypeError, "outs"),
        ([torch.ones(2, 3).int()], [torch.ones(2)], errors.DTypeError, "outs"),
        ([np.ma.ones((2, 3))], [np.ones(2)], errors.ArgumentTypeError, r"outs\[0\]"),
        (
            [np.ones((2, 3)), np.ones((2, 3), np.float32)],
            [np.ones(2)] * 2,
            errors.DTypeError,
            r"outs\[1\]",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_by_name(outs, lses, error, name):
    with pytest.raises(error, match=f"^{name}: got "):
        ascendfa.merge_attention(outs, lses)


def test_an_unknown_layout_is_refused():
    with pytest.raises(errors.InvalidArgumentError, match="^layout"):
        ascendfa.merge_attention([np.ones((2, 3))], [np.ones(2)], layout="TND")
