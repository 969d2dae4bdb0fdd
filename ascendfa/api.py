"""The public functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from ascendfa import arrays, npu_tensors
from ascendfa.chips import CHIPS, Chip, check_tile, chip_for_soc
from ascendfa.config import FlashAttentionConfig, as_config, merge_argument, resolve_blocks
from ascendfa.errors import DTypeError, NotSupportedError
from ascendfa.native.acl import Acl, acl
from ascendfa.native.backend import Backend
from ascendfa.native.executor import (
    Attributes,
    DeviceArray,
    HostInput,
    flash_attention_host,
)
from ascendfa.native.loader import current_backend
from ascendfa.problem import Problem, as_bool, make_problem, reject_unsupported

__all__ = ["backend", "flash_attention"]


def backend() -> Backend:
    """Return which toolkit attention runs on, and why.

    Returns
    -------
    Backend
        With ``name`` (``npu`` or ``emulator``), ``root`` and ``reason``; printable. Before the
        first call it is the one that call would use.
    """
    return current_backend()


def flash_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Any = None,
    bias: Any = None,
    mask: Any = None,
    dropout_p: float = 0.0,
    deterministic: bool = False,
    layout: str = "BNSD",
    config: FlashAttentionConfig | None = None,
    return_lse: bool = False,
) -> Any:
    """Compute softmax(scale · q kᵀ) v without ever storing the scores as a whole.

    Tensors of torch_npu are read where they are, and the work is queued on torch's current stream
    of their device without waiting for it. Other arrays go through device memory and back.

    Parameters
    ----------
    q, k, v
        numpy arrays or torch tensors, float16, bfloat16 or float32, q [B, Hq, Sq, D],
        k [B, Hk, Sk, D] and v [B, Hk, Sk, Dv] (or [B, S, H, D], see `layout`). Hq is a multiple of
        Hk: query head h reads key head ``h // (Hq // Hk)``. D is 1 to 576, Dv 1 to 512. Strides are
        followed, not copied, as long as the last axis is contiguous: slices, transposed and
        expanded views.
    causal
        Key j is visible to query i iff ``j <= i + Sk - Sq``: the last query sees the last key.
    scale
        Factor on the scores, at most 1e26 either way; None for 1/√D.
    window_size
        (left, right): key j is visible to query i iff ``own - left <= j <= own + right``, where
        ``own`` is ``i + Sk - Sq``; -1 for no limit on a side. With `causal`, both have to hold.
    softcap
        Scaled scores become ``softcap * tanh(score / softcap)``, to within 3e-7 of `softcap`; 0 for
        none, at most 1000.
    alibi_slopes
        float32 [Hq] or [B, Hq]: scores lose ``slope * abs(i + Sk - Sq - j)``.
    bias
        Added to the scores after all of the above: an array of q's dtype, [Sq, Sk] or
        [B, Hq, Sq, Sk], of whose axes B, Hq and Sq each may be 1. May hold -inf.
    mask
        bool, of the shapes `bias` has: keys are visible where it is True (and nothing else hides
        them).
    dropout_p
        Not supported; anything but 0 raises.
    deterministic
        The forward pass always is; accepted either way.
    layout
        ``"BNSD"`` or ``"BSND"``: axis order of q, k, v and the result.
    config
        The same settings as an object, and block sizes.
    return_lse
        Return the pair (out, lse).

    Returns
    -------
    out : array
        Of the kind, type and layout of q, with v's head dimension. A query that sees no key gets
        zeros.
    lse : array
        Only with `return_lse`: [B, Hq, Sq] float32, the natural logarithm of each query's sum of
        exponentials; -inf where no key is visible.

    Raises
    ------
    ascendfa.errors.InvalidArgumentError, ascendfa.errors.ArgumentTypeError
        Or subclasses of them (a ValueError, a TypeError), before any launch.
    ascendfa.errors.ToolkitError
        If the libraries cannot be used.
    ascendfa.errors.AclError
        If a call into them fails.
    """
    settings = as_config(config)
    causal, deterministic = as_bool("causal", causal), as_bool("deterministic", deterministic)
    if settings is not None:
        causal = merge_argument("causal", causal, False, settings.causal)
        scale = merge_argument("scale", scale, None, settings.scale)
        merge_argument("deterministic", deterministic, False, settings.deterministic)
    with_lse = as_bool("return_lse", return_lse)
    reject_unsupported(dropout_p=dropout_p)
    given = {"q": q, "k": k, "v": v, "bias": bias, "mask": mask, "alibi_slopes": alibi_slopes}
    required = ("q", "k", "v")
    specs = {
        name: arrays.describe(name, array)
        for name, array in given.items()
        if name in required or array is not None
    }
    problem = make_problem(
        **specs,
        causal=causal,
        scale=scale,
        window_size=window_size,
        softcap=softcap,
        layout=layout,
    )
    if npu_tensors.is_npu(problem.device):
        results = _on_npu(problem, settings, given)
        return results if with_lse else results[0]
    out = arrays.result_buffer(problem.out_shape, q, problem.dtype)
    lse = np.empty(problem.lse_shape, np.float32)
    if problem.needs_launch:
        _launch(problem, settings, given, out, lse)
    else:
        # Zero has the same bits in every type.
        out.view(np.uint8)[:] = 0
        lse[:] = -np.inf
    result = arrays.as_result(out, q, problem.dtype)
    return (result, arrays.as_result(lse, q)) if with_lse else result


def _attributes(
    runtime: Acl,
    problem: Problem,
    config: FlashAttentionConfig | None,
    itemsize: int,
) -> Attributes:
    """Return what to tell the operator, refusing what the runtime's chip cannot compute."""
    chip = chip_for_soc(runtime.soc_name())
    if not chip.has_kernels:
        units = " or ".join(c.unit for c in CHIPS.values() if c.has_kernels)
        raise NotSupportedError("SoC", runtime.soc_name(), f"a chip of unit {units}")
    if problem.dtype not in chip.dtypes:
        raise DTypeError(
            "q, k, v",
            f"dtype {problem.dtype} on {runtime.soc_name()}",
            " or ".join(chip.dtypes),
        )
    _check_dims(chip, runtime.soc_name(), problem)
    blocks = resolve_blocks(problem, config, chip.unit)
    dims = (problem.head_dim, problem.head_dim_v)
    check_tile(chip, blocks.m, blocks.n, dims, itemsize)
    return Attributes(
        scale=problem.scale,
        causal=problem.causal,
        window_left=problem.window_size[0],
        window_right=problem.window_size[1],
        softcap=problem.softcap,
        block_m=blocks.m,
        block_n=blocks.n,
        fp32_scores=config is not None and config.fp32_scores,
        layout=problem.layout,
    )


def _check_dims(chip: Chip, soc: str, problem: Problem) -> None:
    dims = (problem.head_dim, problem.head_dim_v)
    for name, dim, most in zip(("q", "v"), dims, chip.head_dims, strict=True):
        if dim > most:
            raise NotSupportedError(name, f"head dim {dim} on {soc}", f"head dim 1 to {most}")


def _launch(
    problem: Problem,
    config: FlashAttentionConfig | None,
    given: dict[str, Any],
    out: arrays.HostArray,
    lse: arrays.HostArray,
) -> None:
    runtime = acl()
    with runtime.device(0):
        attributes = _attributes(runtime, problem, config, out.itemsize)
        staged = [
            None if array is None else arrays.stage(array, _DTYPE_OF.get(name, problem.dtype))
            for name, array in given.items()
        ]
        inputs = [
            None if array is None else _host_input(name, array)
            for name, array in zip(given, staged, strict=True)
        ]
        flash_attention_host(runtime, inputs, attributes, out, problem.dtype, lse)


def _on_npu(
    problem: Problem, config: FlashAttentionConfig | None, given: dict[str, Any]
) -> tuple[Any, Any]:
    """Queue attention of tensors that are on an NPU; return the tensors of out and lse."""
    device = problem.device
    with npu_tensors.on_device(device) as index:
        out = npu_tensors.empty(problem.out_shape, problem.dtype, device)
        lse = npu_tensors.empty(problem.lse_shape, "float32", device)
        if not problem.needs_launch:
            return out.zero_(), lse.fill_(-np.inf)
        runtime = acl()
        with runtime.device(index):
            attributes = _attributes(runtime, problem, config, out.itemsize)
            inputs = [
                None if tensor is None else _npu_input(name, tensor, problem.dtype)
                for name, tensor in given.items()
            ]
            outputs = (
                npu_tensors.view("out", out, problem.dtype),
                npu_tensors.view("lse", lse, "float32"),
            )
            npu_tensors.launch(runtime, inputs, attributes, outputs, device)
    return out, lse


# Inputs that do not have q's type.
_DTYPE_OF: Final = {"mask": "bool", "alibi_slopes": "float32"}


def _four_axes(
    name: str, shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Give a term [Sq, Sk] the four axes the operator takes; those of length 1 repeat."""
    if name in ("bias", "mask") and len(shape) == 2:
        return (1, 1, *shape), (0, 0, *strides)
    return shape, strides


def _npu_input(name: str, tensor: Any, dtype: str) -> DeviceArray:
    array = npu_tensors.view(name, tensor, _DTYPE_OF.get(name, dtype))
    shape, strides = _four_axes(name, array.shape, array.strides)
    return replace(array, shape=shape, strides=strides)


def _host_input(name: str, array: arrays.Staged) -> HostInput:
    shape, strides = _four_axes(name, array.shape, array.strides)
    return HostInput(
        address=array.owner.ctypes.data,
        nbytes=array.nbytes,
        dtype=array.dtype,
        shape=shape,
        strides=strides,
        contiguous=array.contiguous,
    )
