from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendfa import errors
from ascendfa.problem import ArraySpec, make_problem, reject_unsupported


def spec(
    *shape: int, dtype: str = "float16", device: str = "cpu", kind: str = "numpy"
) -> ArraySpec:
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return ArraySpec(kind, dtype, device, shape, tuple(strides))  # type: ignore[arg-type]


Q = spec(2, 4, 5, 64)
K = spec(2, 4, 7, 64)


def test_extents_and_default_scale_are_read_from_the_shapes():
    problem = make_problem(Q, K, K)
    extents = (problem.batch, problem.heads_q, problem.heads_k, problem.seq_q, problem.seq_k)
    assert extents == (2, 4, 4, 5, 7)
    assert problem.head_dim == problem.head_dim_v == 64
    assert problem.scale == 0.125
    assert problem.group_size == 1
    assert not problem.causal
    assert problem.needs_launch


def test_bsnd_swaps_sequence_and_heads():
    problem = make_problem(spec(2, 5, 4, 64), spec(2, 7, 4, 64), spec(2, 7, 4, 32), layout="BSND")
    assert (problem.heads_q, problem.seq_q, problem.seq_k) == (4, 5, 7)
    assert problem.out_shape == (2, 5, 4, 32)
    assert problem.lse_shape == (2, 4, 5)


@pytest.mark.parametrize("name", ["q", "k", "v"])
@pytest.mark.parametrize("shape", [(64,), (5, 64), (4, 5, 64), (1, 1, 4, 5, 64)])
def test_wrong_rank_names_the_argument_and_the_expected_axes(name, shape):
    arrays = {"q": Q, "k": K, "v": K, name: spec(*shape)}
    with pytest.raises(errors.ShapeError, match=rf"^{name}: got rank {len(shape)}.*batch, heads"):
        make_problem(**arrays)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("k", (3, 4, 7, 64), "batch 3"),
        ("v", (3, 4, 7, 64), "batch 3"),
        ("v", (2, 2, 7, 64), "2 heads"),
        ("v", (2, 4, 8, 64), "sequence length 8"),
        ("k", (2, 4, 7, 128), "head dim 128"),
    ],
)
def test_shapes_that_do_not_fit_together_are_refused(name, shape, message):
    arrays = {"q": Q, "k": K, "v": K, name: spec(*shape)}
    with pytest.raises(errors.ShapeError, match=rf"^{name}: got {message}"):
        make_problem(**arrays)
    with pytest.raises(ValueError, match="allowed"):
        make_problem(**arrays)


def test_heads_that_do_not_divide_name_both_counts():
    kv = spec(2, 3, 7, 64)
    with pytest.raises(errors.ShapeError, match="4 heads over 3 heads"):
        make_problem(Q, kv, kv)


@pytest.mark.parametrize(("heads", "group"), [(1, 4), (2, 2), (4, 1)])
def test_query_heads_share_key_heads_in_groups(heads, group):
    kv = spec(2, heads, 7, 64)
    assert make_problem(Q, kv, kv).group_size == group


@pytest.mark.parametrize("heads", ["q", "k"])
def test_zero_heads_are_refused(heads):
    none = spec(2, 0, 7, 64)
    arrays = (none, K, K) if heads == "q" else (Q, none, none)
    with pytest.raises(errors.ShapeError, match="0 heads"):
        make_problem(*arrays)


@pytest.mark.parametrize("dim", [1, 63, 72, 256, 512])
def test_head_dims_up_to_512_pass(dim):
    array = spec(1, 1, 2, dim)
    assert make_problem(array, array, array).head_dim == dim


@pytest.mark.parametrize(
    ("dim", "error"), [(0, errors.ShapeError), (577, errors.NotSupportedError)]
)
def test_other_head_dims_are_refused_naming_the_legal_ones(dim, error):
    array = spec(1, 1, 2, dim)
    with pytest.raises(error, match=f"head dim {dim}; allowed: head dim 1 to 576"):
        make_problem(array, array, array)


def test_values_may_have_a_head_dim_of_their_own():
    problem = make_problem(Q, K, spec(2, 4, 7, 128))
    assert (problem.head_dim, problem.head_dim_v) == (64, 128)
    assert problem.out_shape == (2, 4, 5, 128)
    with pytest.raises(
        errors.NotSupportedError, match="^v: got head dim 513; allowed: head dim 1 to 512"
    ):
        make_problem(Q, K, spec(2, 4, 7, 513))


def test_q_k_and_v_share_a_dtype():
    with pytest.raises(TypeError, match="^v: got dtype bfloat16; allowed: the dtype of q, float16"):
        make_problem(Q, K, replace(K, dtype="bfloat16"))


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
@pytest.mark.parametrize("name", ["q", "k", "v"])
def test_other_dtypes_are_type_errors_naming_the_dtype(name, dtype):
    arrays = {"q": Q, "k": K, "v": K}
    arrays[name] = replace(arrays[name], dtype=dtype)
    with pytest.raises(TypeError, match=f"^{name}: got dtype {dtype}; allowed: float16"):
        make_problem(**arrays)


def test_tensors_on_different_devices_are_refused():
    with pytest.raises(errors.DeviceMismatchError, match="^v: got device cuda:1 beside q on cpu"):
        make_problem(Q, K, replace(K, device="cuda:1"))


@pytest.mark.parametrize("device", ["cuda:0", "meta", "mps"])
def test_foreign_devices_are_refused(device):
    arrays = [replace(a, device=device) for a in (Q, K, K)]
    with pytest.raises(errors.DeviceMismatchError, match=f"device {device}"):
        make_problem(*arrays)


def test_npu_tensors_are_computed_where_they_are():
    assert make_problem(*(replace(a, device="npu:1") for a in (Q, K, K))).device == "npu:1"


def test_tensors_of_two_npus_are_refused():
    q, k, v = (replace(a, device="npu:0") for a in (Q, K, K))
    with pytest.raises(errors.DeviceMismatchError, match="v: got device npu:1 beside q on npu:0"):
        make_problem(q, k, replace(v, device="npu:1"))


def test_mixed_kinds_are_a_type_error():
    with pytest.raises(errors.ArgumentTypeError, match="^k: got a torch array beside q, a numpy"):
        make_problem(Q, replace(K, kind="torch"), K)


@pytest.mark.parametrize("name", ["q", "k", "v"])
@pytest.mark.parametrize("last", [0, 2, -1])
def test_a_strided_last_axis_is_refused_naming_the_stride(name, last):
    arrays = {"q": Q, "k": K, "v": K}
    array = arrays[name]
    arrays[name] = replace(array, strides=(*array.strides[:-1], last))
    with pytest.raises(errors.ShapeError, match=rf"^{name}: got stride {last} along the last axis"):
        make_problem(**arrays)


def test_strides_of_empty_arrays_do_not_matter():
    empty = replace(spec(2, 4, 0, 64), strides=(0, 0, 0, 0))
    assert not make_problem(empty, K, K).has_output


@pytest.mark.parametrize("outer", [(1792, 448, 128, 1), (0, 0, 64, 1), (-1792, -448, 64, 1)])
def test_any_outer_strides_are_accepted(outer):
    assert make_problem(Q, replace(K, strides=outer), K).seq_k == 7


@pytest.mark.parametrize("scale", [math.nan, math.inf, -math.inf, 2e26, -3e38, 10**400])
def test_scales_that_overflow_scores_are_refused(scale):
    with pytest.raises(errors.InvalidArgumentError, match=r"^scale: got .*allowed: .* 1e\+26"):
        make_problem(Q, K, K, scale=scale)


@pytest.mark.parametrize("scale", ["1", True, 1j, [1.0]])
def test_scales_that_are_no_number_are_type_errors(scale):
    with pytest.raises(TypeError, match="^scale"):
        make_problem(Q, K, K, scale=scale)


@given(st.floats(-1e26, 1e26))
def test_every_other_number_is_a_scale(scale):
    assert make_problem(Q, K, K, scale=scale).scale == scale


@pytest.mark.parametrize("causal", ["False", 1, None, 0.0])
def test_causal_has_to_be_a_bool(causal):
    with pytest.raises(TypeError, match="^causal"):
        make_problem(Q, K, K, causal=causal)


@pytest.mark.parametrize("layout", ["", "bnsd", "SBHD", "TND"])
def test_unknown_layouts_are_refused(layout):
    with pytest.raises(errors.InvalidArgumentError, match="allowed: 'BNSD' or 'BSND'"):
        make_problem(Q, K, K, layout=layout)


def test_a_layout_that_is_no_string_is_a_type_error():
    with pytest.raises(TypeError, match="^layout"):
        make_problem(Q, K, K, layout=["BNSD"])


@pytest.mark.parametrize(
    ("seq_q", "seq_k", "has_output", "needs_launch"),
    [(0, 3, False, False), (3, 0, True, False), (0, 0, False, False), (1, 1, True, True)],
)
def test_empty_sequences_need_no_launch(seq_q, seq_k, has_output, needs_launch):
    kv = spec(1, 2, seq_k, 64)
    problem = make_problem(spec(1, 2, seq_q, 64), kv, kv)
    assert (problem.has_output, problem.needs_launch) == (has_output, needs_launch)


def test_an_empty_batch_needs_no_launch():
    array = spec(0, 2, 3, 64)
    assert not make_problem(array, array, array).needs_launch


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *[("bias", shape) for shape in [(5, 7), (2, 1, 1, 7), (2, 1, 5, 7), (2, 4, 5, 7)]],
        *[("mask", shape) for shape in [(5, 7), (1, 1, 5, 7), (1, 4, 1, 7), (1, 1, 1, 7)]],
        *[("alibi_slopes", shape) for shape in [(4,), (2, 4)]],
    ],
)
def test_shapes_that_broadcast_over_the_scores_pass(name, shape):
    dtypes = {"bias": "float16", "mask": "bool", "alibi_slopes": "float32"}
    make_problem(Q, K, K, **{name: spec(*shape, dtype=dtypes[name])})


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *[("bias", s) for s in [(7,), (5, 1), (1, 7), (4, 5, 7), (2, 2, 5, 7), (2, 4, 5, 1)]],
        *[("mask", s) for s in [(7, 5), (3, 1, 5, 7), (2, 4, 7), (1, 2, 4, 5, 7)]],
    ],
)
def test_other_shapes_are_refused_listing_the_legal_ones(name, shape):
    term = spec(*shape, dtype="float16" if name == "bias" else "bool")
    with pytest.raises(
        errors.ShapeError, match=rf"^{name}: got shape .*\[Sq, Sk\].*\[B, 1, 1, Sk\].*B=2, H=4"
    ):
        make_problem(Q, K, K, **{name: term})


@pytest.mark.parametrize("shape", [(), (3,), (4, 2), (1, 4), (2, 4, 1)])
def test_slopes_of_other_shapes_are_refused(shape):
    with pytest.raises(errors.ShapeError, match=r"^alibi_slopes: got shape .*\[4\] or \[2, 4\]"):
        make_problem(Q, K, K, alibi_slopes=spec(*shape, dtype="float32"))


@pytest.mark.parametrize(
    ("name", "dtype", "allowed"),
    [
        ("bias", "float32", "float16, the dtype of q"),
        ("mask", "uint8", "bool"),
        ("mask", "float16", "bool"),
        ("alibi_slopes", "float64", "float32"),
    ],
)
def test_terms_of_another_dtype_are_refused_naming_the_legal_one(name, dtype, allowed):
    term = spec(*((4,) if name == "alibi_slopes" else (5, 7)), dtype=dtype)
    with pytest.raises(errors.DTypeError, match=f"^{name}: got dtype {dtype}; allowed: {allowed}$"):
        make_problem(Q, K, K, **{name: term})


def test_terms_on_another_device_or_of_another_kind_are_refused():
    mask = spec(5, 7, dtype="bool")
    with pytest.raises(errors.DeviceMismatchError, match="^mask"):
        make_problem(Q, K, K, mask=replace(mask, device="cuda:0"))
    with pytest.raises(errors.ArgumentTypeError, match="^mask: got a torch array"):
        make_problem(Q, K, K, mask=replace(mask, kind="torch"))


def test_a_window_and_a_cap_are_kept():
    problem = make_problem(Q, K, K, window_size=[128, 0], softcap=30)
    assert (problem.window_size, problem.softcap) == ((128, 0), 30.0)


@pytest.mark.parametrize("window", [(-2, 0), (0, -7), (1 << 63, 0)])
def test_windows_that_mean_nothing_are_refused(window):
    with pytest.raises(errors.InvalidArgumentError, match="^window_size: got .*-1 for no limit"):
        make_problem(Q, K, K, window_size=window)


@pytest.mark.parametrize("window", [5, (1,), (1, 2, 3), (0.5, 1), (None, 1), (True, 1), "ab"])
def test_windows_of_the_wrong_type_are_type_errors(window):
    with pytest.raises(errors.ArgumentTypeError, match="^window_size"):
        make_problem(Q, K, K, window_size=window)


@pytest.mark.parametrize(
    "cap", [-1.0, math.nan, math.inf, 1000.1, 1e-4, 10**400, Fraction(10**400, 3)]
)
def test_caps_that_cannot_be_computed_well_are_refused(cap):
    with pytest.raises(errors.InvalidArgumentError, match="^softcap: got "):
        make_problem(Q, K, K, softcap=cap)


@pytest.mark.parametrize("cap", ["x", True, None])
def test_caps_of_the_wrong_type_are_type_errors(cap):
    with pytest.raises(errors.ArgumentTypeError, match="^softcap"):
        make_problem(Q, K, K, softcap=cap)


def test_dropout_is_refused_unless_it_is_zero():
    reject_unsupported(dropout_p=0)
    with pytest.raises(errors.NotSupportedError, match="^dropout_p: got 0.1; allowed: 0.0"):
        reject_unsupported(dropout_p=0.1)
    with pytest.raises(errors.ArgumentTypeError, match="^dropout_p"):
        reject_unsupported(dropout_p="x")
