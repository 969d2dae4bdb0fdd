"""The one table of C functions: library, name, result type, argument types.

A wrong entry here corrupts memory silently, so nothing is declared anywhere else.
"""

from __future__ import annotations

from ctypes import (
    POINTER,
    c_bool,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, Final, NamedTuple

__all__ = ["ACL", "FLASH_ATTENTION", "LIBRARIES", "SYMBOLS", "Symbol"]

ACL: Final = "libascendcl.so"
NNOPBASE: Final = "libnnopbase.so"
OP_API: Final = "libcust_opapi.so"
LIBRARIES: Final = (ACL, NNOPBASE, OP_API)


class Symbol(NamedTuple):
    """One C function.

    Attributes
    ----------
    library
        Which of `LIBRARIES` exports it.
    restype, argtypes
        As ctypes wants them.
    """

    library: str
    restype: Any
    argtypes: tuple[Any, ...]


_handle: Final = c_void_p  # aclrtStream, aclrtContext, aclTensor*, aclOpExecutor*
_out_handle: Final = POINTER(c_void_p)
_dims: Final = POINTER(c_int64)
_enum: Final = c_int
_status: Final = c_int

FLASH_ATTENTION: Final = "aclnnFlashAttention"

SYMBOLS: Final[dict[str, Symbol]] = {
    # acl.h
    "aclInit": Symbol(ACL, _status, (c_char_p,)),
    "aclFinalize": Symbol(ACL, _status, ()),
    "aclGetRecentErrMsg": Symbol(ACL, c_char_p, ()),
    "aclrtGetSocName": Symbol(ACL, c_char_p, ()),
    "aclrtGetDeviceCount": Symbol(ACL, _status, (POINTER(c_uint32),)),
    "aclrtSetDevice": Symbol(ACL, _status, (c_int32,)),
    "aclrtGetCurrentContext": Symbol(ACL, _status, (_out_handle,)),
    "aclrtSetCurrentContext": Symbol(ACL, _status, (_handle,)),
    "aclrtCreateStream": Symbol(ACL, _status, (_out_handle,)),
    "aclrtDestroyStream": Symbol(ACL, _status, (_handle,)),
    "aclrtSynchronizeStream": Symbol(ACL, _status, (_handle,)),
    "aclrtMalloc": Symbol(ACL, _status, (_out_handle, c_size_t, _enum)),
    "aclrtFree": Symbol(ACL, _status, (_handle,)),
    "aclrtMemcpy": Symbol(ACL, _status, (_handle, c_size_t, _handle, c_size_t, _enum)),
    # acl_meta.h: view dims, their number, dtype, strides, offset, format, storage dims, their
    # number, data
    "aclCreateTensor": Symbol(
        NNOPBASE,
        _handle,
        (_dims, c_uint64, _enum, _dims, c_int64, _enum, _dims, c_uint64, _handle),
    ),
    "aclDestroyTensor": Symbol(NNOPBASE, _status, (_handle,)),
    "aclSetAclOpExecutorRepeatable": Symbol(NNOPBASE, _status, (_handle,)),
    "aclDestroyAclOpExecutor": Symbol(NNOPBASE, _status, (_handle,)),
    # Generated from the OpDef: inputs q, k, v, bias, mask, alibi_slopes (the last three may be
    # null); attributes scale, causal, window_left, window_right, softcap, block_m, block_n,
    # fp32_scores, layout, strided_inputs; outputs out, lse; workspace size; executor.
    f"{FLASH_ATTENTION}GetWorkspaceSize": Symbol(
        OP_API,
        _status,
        (
            *(_handle, _handle, _handle),
            *(_handle, _handle, _handle),
            *(c_double, c_bool, c_int64, c_int64, c_double, c_int64, c_int64, c_bool),
            *(c_char_p, c_int64),
            *(_handle, _handle),
            *(POINTER(c_uint64), _out_handle),
        ),
    ),
    FLASH_ATTENTION: Symbol(OP_API, _status, (_handle, c_uint64, _handle, _handle)),
}
