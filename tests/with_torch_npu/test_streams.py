"""Where the work is queued, and after what. The runtime is slow to queue and to copy."""

from __future__ import annotations

import threading

import torch
from reference import attend, check

import ascendfa


def pinned(*tensors: torch.Tensor) -> list[torch.Tensor]:
    return [t.pin_memory() for t in tensors]


def slow_upload(tensors: list[torch.Tensor], device: str = "npu") -> list[torch.Tensor]:
    """Start to copy to a device on the current stream; the memory holds zeros until then."""
    targets = [torch.zeros(t.shape, dtype=t.dtype, device=device) for t in tensors]
    torch.npu.synchronize(device)
    for target, source in zip(targets, tensors, strict=True):
        target.copy_(source, non_blocking=True)
    return targets


def test_the_call_returns_before_the_stream_has_got_there(draw):
    inputs = pinned(*draw())
    on_npu = slow_upload(inputs)
    for _ in range(10):
        on_npu[0].copy_(inputs[0], non_blocking=True)
    out = ascendfa.flash_attention(*on_npu)
    assert not torch.npu.current_stream().query()
    torch.npu.synchronize()
    check(out, attend(*inputs))


def test_it_runs_on_the_current_stream(draw):
    inputs = pinned(*draw())
    side = torch.npu.Stream()
    with torch.npu.stream(side):
        out = ascendfa.flash_attention(*slow_upload(inputs))
    side.synchronize()
    check(out, attend(*inputs))


def test_it_comes_after_what_torch_still_holds_back(draw):
    q, k, v = draw()
    on_npu = [x.to("npu") for x in (q, k, v)]
    ascendfa.flash_attention(*on_npu)
    target = torch.zeros_like(on_npu[0])
    torch.npu.synchronize()
    # The last one counts; torch_npu queues all of them from a thread of its own.
    for source in [*on_npu[1:] * 8, on_npu[0]]:
        target.copy_(source)
    out = ascendfa.flash_attention(target, *on_npu[1:])
    check(out, attend(q, k, v))


def test_work_torch_is_given_afterwards_comes_after_it(draw):
    q, k, v = draw()
    on_npu = [x.to("npu") for x in (q, k, v)]
    out = ascendfa.flash_attention(*on_npu)
    for tensor in on_npu:
        tensor.zero_()
    check(out, attend(q, k, v))


def test_another_streams_work_is_waited_for_with_wait_stream(draw):
    inputs = pinned(*draw())
    side = torch.npu.Stream()
    with torch.npu.stream(side):
        on_npu = slow_upload(inputs)
    torch.npu.current_stream().wait_stream(side)
    out = ascendfa.flash_attention(*on_npu)
    check(out, attend(*inputs))


def test_another_stream_waits_for_it_with_wait_stream(draw):
    inputs = pinned(*draw())
    side = torch.npu.Stream()
    result = torch.zeros(inputs[0].shape, dtype=torch.float16, device="npu")
    torch.npu.synchronize()
    out = ascendfa.flash_attention(*slow_upload(inputs))
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        result.copy_(out)
    side.synchronize()
    check(result, attend(*inputs))


def test_threads_compute_on_streams_of_their_own(draw):
    problems = [pinned(*draw()) for _ in range(4)]
    results: list[torch.Tensor | None] = [None] * len(problems)

    def work(index: int) -> None:
        device = f"npu:{index % 2}"
        torch.npu.set_device(device)
        stream = torch.npu.Stream()
        with torch.npu.stream(stream):
            out = ascendfa.flash_attention(*slow_upload(problems[index], device))
        stream.synchronize()
        results[index] = out.cpu()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(problems))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for inputs, result in zip(problems, results, strict=True):
        assert result is not None
        check(result, attend(*inputs))


def test_a_thread_that_never_chose_a_device_can_call(draw):
    q, k, v = draw()
    on_npu = [x.to("npu:1") for x in (q, k, v)]
    outs: list[torch.Tensor] = []
    thread = threading.Thread(target=lambda: outs.append(ascendfa.flash_attention(*on_npu).cpu()))
    thread.start()
    thread.join()
    check(outs[0], attend(q, k, v))


def test_streams_that_run_at_once_have_workspaces_of_their_own(draw, spy):
    inputs = pinned(*draw())
    streams = [torch.npu.Stream() for _ in range(2)]
    outs = []
    for stream in streams:
        with torch.npu.stream(stream):
            outs.append(ascendfa.flash_attention(*slow_upload(inputs)))
    torch.npu.synchronize()
    first, second = spy.arguments("aclnnFlashAttention", 0)
    assert first != second
    for out in outs:
        check(out, attend(*inputs))


def test_one_streams_calls_share_their_workspace(draw, spy):
    on_npu = [x.to("npu") for x in draw()]
    for _ in range(3):
        ascendfa.flash_attention(*on_npu)
    assert len(set(spy.arguments("aclnnFlashAttention", 0))) == 1
