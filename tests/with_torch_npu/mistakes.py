"""Mistakes a front end for torch_npu can make; test_mistakes.py has each of them noticed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch

from ascendfa import npu_tensors
from ascendfa.native.acl import Acl
from ascendfa.native.tensor import contiguous_strides

Patch = Callable[[pytest.MonkeyPatch], None]

ALL: dict[str, Patch] = {}


def mistake(patch: Patch) -> Patch:
    ALL[patch.__name__.replace("_", "-")] = patch
    return patch


@mistake
def copies_its_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    true_view = npu_tensors.view
    copies = []

    def view(name: str, tensor: Any, dtype: str) -> Any:
        if name in ("q", "k", "v"):
            copies.append(tensor.clone())
            tensor = copies[-1]
        return true_view(name, tensor, dtype)

    monkeypatch.setattr(npu_tensors, "view", view)


@mistake
def waits_for_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    true_launch = npu_tensors.launch

    def launch(*arguments: Any) -> None:
        true_launch(*arguments)
        torch.npu.current_stream().synchronize()

    monkeypatch.setattr(npu_tensors, "launch", launch)


@mistake
def takes_the_default_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    def stream(device: str) -> ctypes.c_void_p:
        return ctypes.c_void_p(torch.npu.default_stream(device).npu_stream)

    monkeypatch.setattr(npu_tensors, "current_stream", stream)


@mistake
def keeps_the_streams_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    true_stream = npu_tensors.current_stream
    kept: dict[Any, ctypes.c_void_p] = {}

    def stream(device: str) -> ctypes.c_void_p:
        key = device, torch.npu.current_stream(device).stream_id
        if key not in kept:
            kept[key] = true_stream(device)
        return kept[key]

    monkeypatch.setattr(npu_tensors, "current_stream", stream)


@mistake
def keeps_the_first_stream_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    true_stream = npu_tensors.current_stream
    kept: dict[str, ctypes.c_void_p] = {}

    def stream(device: str) -> ctypes.c_void_p:
        handle = true_stream(device)
        return kept.setdefault(device, handle)

    monkeypatch.setattr(npu_tensors, "current_stream", stream)


@mistake
def wait_stream_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.npu.Stream, "wait_stream", lambda *_: None)


@mistake
def stays_on_the_current_device(monkeypatch: pytest.MonkeyPatch) -> None:
    true_empty = npu_tensors.empty

    @contextmanager
    def on_device(device: str):
        yield torch.npu.current_device()

    def empty(shape: Any, dtype: str, device: str) -> Any:
        return true_empty(shape, dtype, f"npu:{torch.npu.current_device()}")

    monkeypatch.setattr(npu_tensors, "on_device", on_device)
    monkeypatch.setattr(npu_tensors, "empty", empty)


@mistake
def takes_another_devices_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    true_stream = npu_tensors.current_stream
    monkeypatch.setattr(npu_tensors, "current_stream", lambda _: true_stream("npu:0"))


@mistake
def leaves_the_device_current(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def on_device(device: str):
        torch.npu.set_device(device)
        yield torch.npu.current_device()

    monkeypatch.setattr(npu_tensors, "on_device", on_device)


def _view_with(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    true_view = npu_tensors.view

    def view(name: str, tensor: Any, dtype: str) -> Any:
        return change(true_view(name, tensor, dtype))

    monkeypatch.setattr(npu_tensors, "view", view)


@mistake
def ignores_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    _view_with(monkeypatch, lambda a: replace(a, strides=tuple(contiguous_strides(a.shape))))


@mistake
def ignores_the_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    _view_with(monkeypatch, lambda a: replace(a, offset=0))


@mistake
def ignores_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(self: Acl, function: str, *arguments: Any) -> None:
        self.libraries[function](*arguments)

    monkeypatch.setattr(Acl, "call", call)


@mistake
def goes_on_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    true_empty = npu_tensors.empty

    def empty(*arguments: Any) -> Any:
        try:
            return true_empty(*arguments)
        except torch.OutOfMemoryError:
            return torch.empty(0, dtype=torch.uint8)

    monkeypatch.setattr(npu_tensors, "empty", empty)


@mistake
def shares_one_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    true_empty = npu_tensors.empty
    shared: dict[str, Any] = {}

    def empty(shape: Any, dtype: str, device: str) -> Any:
        if dtype != "uint8":
            return true_empty(shape, dtype, device)
        return shared.setdefault(device, true_empty(shape, dtype, device))

    monkeypatch.setattr(npu_tensors, "empty", empty)


@mistake
def believes_any_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npu_tensors, "_PLAIN_FORMATS", range(-1, 64))
