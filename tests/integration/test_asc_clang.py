"""Sources that only clang compiles: the driver turns to it, and launches find their kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = r"""
#include <cstdio>

#include "acl/acl.h"
#include "kernel_operator.h"

// The real compiler's own spelling of a function for both sides.
inline [host, aicore] int twice(int value) { return 2 * value; }

struct Writer {
  // g++ takes no explicit specialisation inside a class.
  template <int core = g_coreType>
  __aicore__ void run(GM_ADDR, int) {}
  template <>
  __aicore__ void run<AscendC::AIV>(GM_ADDR out, int value) {
    AscendC::GlobalTensor<int32_t> global;
    global.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
    global.SetValue(0, twice(value));
    AscendC::DataCacheCleanAndInvalid<int32_t, AscendC::CacheLine::SINGLE_CACHE_LINE,
                                      AscendC::DcciDst::CACHELINE_OUT>(global);
  }
};

__global__ __vector__ void first(GM_ADDR out) { Writer().run(out, 10); }
__global__ __vector__ void second(GM_ADDR out) { Writer().run(out, 200); }

static int run(bool swap) {
  aclrtStream stream;
  uint8_t* out;
  int32_t result = 0;
  aclrtCreateStream(&stream);
  aclrtMalloc(reinterpret_cast<void**>(&out), 64, ACL_MEM_MALLOC_HUGE_FIRST);
  // Host-only lambdas: clang counts them in the host pass and in no other.
  const auto offset = [](int value) { return value + 1; };
  if (swap) {
    second<<<1, nullptr, stream>>>(out);
  } else {
    first<<<1, nullptr, stream>>>(out);
  }
  aclrtSynchronizeStream(stream);
  aclrtMemcpy(&result, 4, out, 4, ACL_MEMCPY_DEVICE_TO_HOST);
  aclrtFree(out);
  aclrtDestroyStream(stream);
  return offset(result);
}

int main() {
  const auto unused = [](int value) { return value; };
  aclInit(nullptr);
  aclrtSetDevice(0);
  std::printf("%d %d\n", unused(run(false)), run(true));
  aclFinalize();
}
"""


def toolkit_root() -> Path:
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    if override:
        return Path(override)
    import ascendfa

    return Path(ascendfa.__file__).parent / "_toolkit"


def compile_source(folder: Path, path: str) -> subprocess.CompletedProcess[str]:
    root = toolkit_root()
    driver = root / "bin" / "ascc"
    if not driver.exists():
        pytest.skip(f"no toolkit at {root}; build one with pip install .")
    (folder / "kernels.asc").write_text(SOURCE)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ASCC", "ASCEND_"))}
    return subprocess.run(
        [str(driver), "--npu-arch=dav-2201", "kernels.asc", "-o", "program"],
        cwd=folder,
        env={**environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def find_clang() -> bool:
    return any(
        shutil.which(f"clang++{suffix}") for suffix in ["", *(f"-{v}" for v in range(14, 22))]
    )


@pytest.mark.skipif(not find_clang(), reason="no clang++")
def test_clang_takes_what_gcc_refuses(tmp_path: Path) -> None:
    done = compile_source(tmp_path, os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(
        [str(tmp_path / "program")], capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.stdout == "21 401\n", ran.stderr


def test_without_clang_the_driver_says_what_to_install(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").symlink_to(sys.executable)
    (tools / "env").symlink_to("/usr/bin/env")
    for name in ("g++", "as", "ld", "objcopy"):
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"no {name}")
        # Not a link: the tool may be a wrapper that looks for the real one by PATH.
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nPATH="{os.environ["PATH"]}" exec "{found}" "$@"\n')
        tool.chmod(0o755)
    done = compile_source(tmp_path, str(tools))
    assert done.returncode == 1
    assert "needs clang++" in done.stderr
    assert "apt-get install clang" in done.stderr
