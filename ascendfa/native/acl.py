"""The ACL runtime with Python manners: exceptions for codes, context managers for handles."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ascendfa.errors import AclError, BackendError, InvalidArgumentError
from ascendfa.native import codes
from ascendfa.native.loader import Toolkit, toolkit

__all__ = ["Acl", "acl"]

_SUCCESS: Final = 0
_MALLOC_HUGE_FIRST: Final = 0
_HOST_TO_DEVICE: Final = 1
_DEVICE_TO_HOST: Final = 2


class Acl:
    """An initialised ACL runtime.

    Parameters
    ----------
    libraries
        The open toolkit; `acl` makes the one instance of a process.
    """

    def __init__(self, libraries: Toolkit) -> None:
        self.libraries = libraries
        code = libraries["aclInit"](None)
        if code not in (_SUCCESS, codes.REPEAT_INITIALIZE):
            raise self.error("aclInit", code)
        self._forget_message()
        self.owns_init = code == _SUCCESS

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function of the table that returns a status.

        Raises
        ------
        AclError
            If the status is not success.
        """
        code = self.libraries[function](*arguments)
        if code != _SUCCESS:
            raise self.error(function, code)

    def error(self, function: str, code: int) -> AclError:
        """Make the exception for a failed call; to be called on the thread that made the call."""
        message = self.libraries["aclGetRecentErrMsg"]()
        recent = "" if message is None else message.decode("utf-8", errors="replace").strip()
        return AclError(function, code, codes.meaning(code), recent, codes.hint(code))

    def _forget_message(self) -> None:
        """Drop the message of an expected failure, lest a later error without one shows it."""
        self.libraries["aclGetRecentErrMsg"]()

    def soc_name(self) -> str:
        """Return the SoC's name, such as Ascend910B3."""
        name = self.libraries["aclrtGetSocName"]()
        if not name:
            raise self.error("aclrtGetSocName", 500000)
        return str(name.decode())

    @contextmanager
    def device(self, index: int) -> Iterator[None]:
        """Make a device current on this thread, and the former context afterwards.

        The device itself is not reset: its context is the process's, and others may be using it.
        """
        count = ctypes.c_uint32()
        self.call("aclrtGetDeviceCount", ctypes.byref(count))
        if count.value == 0:
            raise BackendError(f"there is no device on the backend {self.libraries.backend}")
        if not 0 <= index < count.value:
            raise InvalidArgumentError("device", index, f"0 to {count.value - 1}")
        former = ctypes.c_void_p()
        code = self.libraries["aclrtGetCurrentContext"](ctypes.byref(former))
        self._forget_message()
        self.call("aclrtSetDevice", index)
        with self.releasing("aclrtSetCurrentContext", former if code == _SUCCESS else None):
            yield

    @contextmanager
    def stream(self) -> Iterator[ctypes.c_void_p]:
        """Create a stream and destroy it at the end."""
        handle = ctypes.c_void_p()
        self.call("aclrtCreateStream", ctypes.byref(handle))
        with self.releasing("aclrtDestroyStream", handle):
            yield handle

    @contextmanager
    def memory(self, size: int) -> Iterator[ctypes.c_void_p]:
        """Allocate device memory and free it at the end; a null pointer for no bytes."""
        pointer = ctypes.c_void_p()
        if size:
            self.call("aclrtMalloc", ctypes.byref(pointer), size, _MALLOC_HUGE_FIRST)
        with self.releasing("aclrtFree", pointer):
            yield pointer

    def copy_to_device(self, device: ctypes.c_void_p, host: int, size: int) -> None:
        """Copy from a host address, synchronously."""
        self.call("aclrtMemcpy", device, size, host, size, _HOST_TO_DEVICE)

    def copy_to_host(self, host: int, device: ctypes.c_void_p, size: int) -> None:
        """Copy to a host address, synchronously."""
        self.call("aclrtMemcpy", host, size, device, size, _DEVICE_TO_HOST)

    @contextmanager
    def releasing(self, function: str, handle: ctypes.c_void_p | None) -> Iterator[None]:
        """Release a handle on every path; a failing release never hides an earlier error."""
        try:
            yield
        except BaseException:
            if handle:
                self.libraries[function](handle)
            raise
        if handle:
            self.call(function, handle)


_lock = threading.Lock()
_instance: Acl | None = None


def acl() -> Acl:
    """Return the initialised runtime of this process."""
    global _instance
    libraries = toolkit()
    with _lock:
        if _instance is None:
            _instance = Acl(libraries)
            if _instance.owns_init:
                atexit.register(_finalize, _instance, os.getpid())
        return _instance


def _finalize(runtime: Acl, owner: int) -> None:
    # A forked child has the parent's handles without its threads: it would wait for them for ever.
    if os.getpid() != owner:
        return
    # torch_npu finalises ACL itself, after the tensors that are still alive.
    if "torch_npu" not in sys.modules:
        runtime.libraries["aclFinalize"]()
