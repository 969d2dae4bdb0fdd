"""What torch_npu itself needs of the runtime."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import textwrap
import threading

import pytest
import torch

import ascendfa


def test_the_devices_are_those_of_the_environment():
    assert torch.npu.device_count() == 2
    assert torch.npu.get_device_name(1) == "Ascend910B3"


def test_events_measure_the_time_between_them():
    start, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    source, target = torch.zeros(4).pin_memory(), torch.zeros(4).to("npu")
    start.record()
    for _ in range(3):
        target.copy_(source, non_blocking=True)
    end.record()
    assert not end.query()
    end.synchronize()
    # Three copies of 100 ms each.
    assert start.elapsed_time(end) >= 300


def test_memory_is_accounted_for_and_given_back():
    free, total = torch.npu.mem_get_info()
    assert total == 256 << 20
    held = torch.empty(64 << 20, dtype=torch.uint8, device="npu")
    assert torch.npu.mem_get_info()[0] <= free - (64 << 20)
    del held
    torch.npu.empty_cache()
    assert torch.npu.mem_get_info()[0] == free


def test_too_much_memory_is_torchs_error_and_less_is_still_there():
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 30, dtype=torch.uint8, device="npu")
    assert torch.zeros(1 << 20, device="npu").cpu().eq(0).all()


def test_modules_move_and_tensors_are_saved_and_loaded():
    module = torch.nn.Linear(8, 8).half()
    expected = module.weight.detach().clone()
    module.to("npu")
    assert module.weight.device == torch.device("npu:0")
    file = io.BytesIO()
    torch.save(module.weight.detach(), file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded.device == torch.device("npu:0")
    assert torch.equal(loaded.cpu(), expected)
    assert loaded[0, 0].item() == expected[0, 0].item()


def test_threads_copy_at_the_same_time():
    sources = [torch.randn(1000) for _ in range(6)]
    results: dict[int, torch.Tensor] = {}

    def work(i: int) -> None:
        results[i] = sources[i].to(f"npu:{i % 2}").clone().cpu()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(sources))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(results[i], source) for i, source in enumerate(sources))


@pytest.mark.parametrize("first", ["torch_npu", "ascendfa"])
def test_a_process_with_the_toolkits_environment_set(first):
    """ASCEND_HOME_PATH makes torch_npu look into more folders; either package may come first."""
    root = ascendfa.backend().root
    code = f"""
        import numpy as np
        if {first!r} == "ascendfa":
            import os
            os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
            import ascendfa
            a = np.ones((1, 1, 5, 64), np.float16)
            ascendfa.flash_attention(a, a, a)
        import torch, torch_npu
        import ascendfa
        q = torch.ones(1, 1, 5, 64, dtype=torch.float16).to("npu")
        out = ascendfa.flash_attention(q, q, q, causal=True)
        assert out.cpu().eq(1).all()
        print("root:", ascendfa.backend().root)
    """
    environment = {"ASCENDFA_EMULATOR_HOME": str(root), "ASCEND_OPP_PATH": str(root / "opp")}
    if first == "torch_npu":
        environment["ASCEND_HOME_PATH"] = str(root)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    assert f"root: {root}" in done.stdout
