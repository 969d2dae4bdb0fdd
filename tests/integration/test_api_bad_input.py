"""Bad arguments of the public function, refused before any handle exists."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from support.stub_toolkit import NOTHING, arrays

import ascendfa
from ascendfa import errors


@pytest.fixture(autouse=True)
def nothing_is_created(stub) -> Iterator[None]:
    yield
    assert [stub.made(kind) for kind in NOTHING] == [0, 0, 0, 0]


@pytest.mark.parametrize("name", ["q", "k", "v"])
@pytest.mark.parametrize("bad", [[[1.0]], None, 3.0, "tensor"])
def test_what_is_no_array_is_a_type_error(rng, name, bad):
    given = dict(zip("qkv", arrays(rng), strict=True)) | {name: bad}
    with pytest.raises(errors.ArgumentTypeError, match=f"^{name}: got a {type(bad).__name__}"):
        ascendfa.flash_attention(**given)


def test_nested_tensors_are_a_type_error():
    nested = torch.nested.nested_tensor([torch.zeros(4, 2, 64), torch.zeros(4, 3, 64)])
    with pytest.raises(errors.ArgumentTypeError, match="^q: got a nested tensor"):
        ascendfa.flash_attention(nested, nested, nested)


def test_tensors_without_memory_are_a_type_error():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.zeros(2, 4, 3, 64)
    zero = torch._efficientzerotensor(2, 4, 3, 64)
    refused = pytest.raises(errors.ArgumentTypeError, match="^k: got a tensor without memory")
    for bad in (fake, zero):
        with refused:
            ascendfa.flash_attention(torch.zeros(2, 4, 3, 64), bad, bad)
    with refused:
        torch.vmap(lambda k: ascendfa.flash_attention(torch.zeros(2, 4, 3, 64), k, k))(
            torch.zeros(3, 2, 4, 3, 64)
        )


def test_masked_arrays_are_refused_because_their_mask_would_be_lost(rng):
    q, k, v = arrays(rng)
    with pytest.raises(errors.ArgumentTypeError, match="^k: got a masked array"):
        ascendfa.flash_attention(q, np.ma.masked_array(k, mask=False), v)


def test_a_mix_of_numpy_and_torch_is_a_type_error(rng):
    q, k, v = arrays(rng)
    with pytest.raises(TypeError, match="^v: got a torch array beside q, a numpy array"):
        ascendfa.flash_attention(q, k, torch.from_numpy(v))


@pytest.mark.parametrize("dtype", ["float64", "int32", ">f2"])
def test_other_numpy_dtypes_are_refused_by_name(rng, dtype):
    named = "float16 in foreign byte order" if dtype == ">f2" else dtype
    with pytest.raises(errors.DTypeError, match=f"^q: got dtype {named}"):
        ascendfa.flash_attention(*(a.astype(dtype) for a in arrays(rng)))


def test_one_array_of_another_dtype_is_refused_by_its_name(rng):
    q, k, v = arrays(rng)
    with pytest.raises(errors.DTypeError, match="^v: got dtype float32; allowed: the dtype of q"):
        ascendfa.flash_attention(q, k, v.astype(np.float32))


def test_a_device_ascendfa_cannot_reach_is_refused():
    q = torch.empty((1, 1, 2, 64), dtype=torch.float16, device="meta")
    with pytest.raises(errors.DeviceMismatchError, match="device meta"):
        ascendfa.flash_attention(q, q, q)


def test_tensors_on_two_devices_are_refused():
    q = torch.zeros((1, 1, 2, 64), dtype=torch.float16)
    with pytest.raises(errors.DeviceMismatchError, match="^k: got device meta beside q on cpu"):
        ascendfa.flash_attention(q, q.to("meta"), q)


def test_a_sparse_tensor_is_a_type_error():
    q = torch.zeros((1, 1, 2, 64), dtype=torch.float16)
    with pytest.raises(errors.ArgumentTypeError, match="^k: got a torch.sparse_coo tensor"):
        ascendfa.flash_attention(q, q.to_sparse(), q)


def test_a_strided_last_axis_is_refused(rng):
    q, k, v = arrays(rng)
    wide = np.repeat(k, 2, axis=3)[..., ::2]
    with pytest.raises(errors.ShapeError, match="^k: got stride 2 along the last axis"):
        ascendfa.flash_attention(q, wide, v)
    tensors = [torch.from_numpy(a) for a in (q, k, v)]
    tensors[0] = tensors[0].mT.contiguous().mT
    with pytest.raises(errors.ShapeError, match="^q: got stride 3 along the last axis"):
        ascendfa.flash_attention(*tensors)


def test_a_field_of_a_record_array_is_refused():
    records = np.zeros((1, 1, 2, 64), dtype=[("value", "<f2"), ("odd", "u1")])
    q = np.zeros((1, 1, 2, 64), np.float16)
    with pytest.raises(errors.ShapeError, match="^k: got stride"):
        ascendfa.flash_attention(q, records["value"], q)


def test_a_tensor_that_wants_a_gradient_is_refused_rather_than_detached(rng):
    q, k, v = (torch.from_numpy(a) for a in arrays(rng))
    k.requires_grad_()
    with pytest.raises(errors.NotSupportedError, match="^k: got a tensor with requires_grad"):
        ascendfa.flash_attention(q, k, v)


@pytest.mark.parametrize(
    ("options", "error", "argument"),
    [
        ({"scale": math.nan}, errors.InvalidArgumentError, "scale"),
        ({"layout": "SBH"}, errors.InvalidArgumentError, "layout"),
        ({"causal": "yes"}, errors.ArgumentTypeError, "causal"),
        ({"return_lse": 1}, errors.ArgumentTypeError, "return_lse"),
        ({"deterministic": "no"}, errors.ArgumentTypeError, "deterministic"),
        ({"window_size": (4, -2)}, errors.InvalidArgumentError, "window_size"),
        ({"softcap": -20.0}, errors.InvalidArgumentError, "softcap"),
        ({"dropout_p": 0.5}, errors.NotSupportedError, "dropout_p"),
        ({"alibi_slopes": np.ones(4)}, errors.DTypeError, "alibi_slopes"),
        ({"alibi_slopes": np.ones(3, np.float32)}, errors.ShapeError, "alibi_slopes"),
        ({"bias": np.ones((3, 5))}, errors.DTypeError, "bias"),
        ({"bias": np.ones((4, 3, 5), np.float16)}, errors.ShapeError, "bias"),
        ({"mask": np.ones((5, 3), bool)}, errors.ShapeError, "mask"),
        ({"mask": np.ones((3, 5), np.uint8)}, errors.DTypeError, "mask"),
        ({"mask": [[True]]}, errors.ArgumentTypeError, "mask"),
    ],
)
def test_bad_and_unsupported_options_are_refused_by_name(rng, options, error, argument):
    with pytest.raises(error, match=f"^{argument}: got .*; allowed: "):
        ascendfa.flash_attention(*arrays(rng), **options)


def test_bad_arguments_are_refused_even_where_nothing_would_run():
    q = np.zeros((1, 1, 0, 64), np.float16)
    with pytest.raises(errors.ShapeError, match="^v"):
        ascendfa.flash_attention(q, q, np.zeros((1, 1, 1, 64), np.float16))


def test_an_unknown_yaml_key_stops_the_call_with_file_and_line(rng, monkeypatch, tmp_path):
    file = tmp_path / "ascend910b" / "flash_attention.yaml"
    file.parent.mkdir()
    file.write_text("version: 1\nchip: ascend910b\nrulez: []\n")
    monkeypatch.setenv("ASCENDFA_CONFIG_DIR", str(tmp_path))
    with pytest.raises(errors.ConfigError, match=r"flash_attention\.yaml:3: unknown key 'rulez'"):
        ascendfa.flash_attention(*arrays(rng))
