"""The public functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendfa import arrays
from ascendfa.chips import check_tile, chip_for_soc
from ascendfa.config import FlashAttentionConfig, as_config, merge_argument, resolve_blocks
from ascendfa.errors import NotSupportedError
from ascendfa.native.acl import acl
from ascendfa.native.backend import Backend
from ascendfa.native.executor import flash_attention_host
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

    Parameters
    ----------
    q, k, v
        numpy arrays or CPU torch tensors, float16, [B, H, S, D] (or [B, S, H, D], see `layout`);
        k and v share a length and a number of heads that may differ from q's; q's number of heads
        is a multiple of theirs (1 for MQA). D is 1 to 256. Any strides whose last axis is
        contiguous.
    causal
        Key j is visible to query i iff ``j <= i + Sk - Sq``: the last query sees the last key.
    scale
        Factor on the scores; None for 1/√D.
    window_size, softcap, alibi_slopes, bias, mask, dropout_p
        Not supported yet; anything but the default raises.
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
        Of the kind, type and layout of q. A query that sees no key gets zeros.
    lse : array
        Only with `return_lse`: [B, H, Sq] float32, the natural logarithm of each query's sum of
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
    reject_unsupported(
        window_size=window_size,
        softcap=softcap,
        alibi_slopes=alibi_slopes,
        bias=bias,
        mask=mask,
        dropout_p=dropout_p,
    )
    q_spec, k_spec, v_spec = (
        arrays.describe(name, array) for name, array in (("q", q), ("k", k), ("v", v))
    )
    problem = make_problem(q_spec, k_spec, v_spec, causal=causal, scale=scale, layout=layout)
    if problem.needs_launch:
        out, lse = _launch(problem, settings, q, k, v)
    else:
        out, lse = _without_keys(problem)
    result = arrays.as_result(out, q_spec, problem.layout)
    return (result, arrays.as_result(lse, q_spec)) if with_lse else result


def _launch(
    problem: Problem, config: FlashAttentionConfig | None, q: Any, k: Any, v: Any
) -> tuple[arrays.HostArray, arrays.HostArray]:
    runtime = acl()
    with runtime.device(0):
        chip = chip_for_soc(runtime.soc_name())
        if not chip.has_kernels:
            raise NotSupportedError(
                "SoC", runtime.soc_name(), "a chip of unit ascend910b or ascend910_93"
            )
        blocks = resolve_blocks(problem, config, chip.unit)
        check_tile(chip, blocks.m, blocks.n, problem.head_dim)
        host = (arrays.stage(array, problem.layout) for array in (q, k, v))
        return flash_attention_host(
            runtime,
            *host,
            dtype=problem.dtype,
            scale=problem.scale,
            causal=problem.causal,
            block_m=blocks.m,
            block_n=blocks.n,
        )


def _without_keys(problem: Problem) -> tuple[arrays.HostArray, arrays.HostArray]:
    rows = (problem.batch, problem.heads_q, problem.seq_q)
    out = np.zeros((*rows, problem.head_dim_v), dtype=problem.dtype)
    return out, np.full(rows, -np.inf, dtype=np.float32)
