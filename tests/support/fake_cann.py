"""A machine with CANN, an NPU and an op package, faked: files for the checks, libraries for calls.

The libraries are generated from the front end's table of C functions, so that they always fit it.
Their "NPU" is host memory, and the attention they compute is wrong in a way that is asked for.
"""

from __future__ import annotations

import ctypes
import json
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from ascendfa.cli.checks.context import Context
from ascendfa.native.symbols import ACL, FLASH_ATTENTION, NNOPBASE, SYMBOLS

UNIT = "ascend910b"
VENDOR = "ascendfa"

_C_TYPES = {
    ctypes.c_void_p: "void*",
    ctypes.c_char_p: "const char*",
    ctypes.c_double: "double",
    ctypes.c_float: "float",
    ctypes.c_bool: "_Bool",
    ctypes.c_int: "int",
    ctypes.c_int64: "int64_t",
    ctypes.c_uint32: "uint32_t",
    ctypes.c_uint64: "uint64_t",
    ctypes.c_size_t: "size_t",
}

_PRELUDE = """
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
struct tensor { int64_t rank, shape[8], strides[8]; char* data; int dtype; };
struct executor { struct tensor q, k, v, out, lse; };
"""

_BODIES = {
    "aclGetRecentErrMsg": 'return "";',
    "aclrtGetSocName": 'return "@SOC@";',
    "aclrtGetDeviceCount": "*(uint32_t*)a0 = @DEVICES@; return 0;",
    "aclrtGetCurrentContext": "*(void**)a0 = (void*)8; return 0;",
    "aclrtCreateStream": "*(void**)a0 = malloc(1); return 0;",
    "aclrtDestroyStream": "free(a0); return 0;",
    "aclrtMalloc": "*(void**)a0 = calloc(1, a1); return 0;",
    "aclrtFree": "free(a0); return 0;",
    "aclrtMemcpy": "memcpy(a0, a2, a3); return 0;",
    "aclCreateTensor": """
  struct tensor* t = calloc(1, sizeof *t);
  const int64_t *shape = a0, *strides = a3;
  t->rank = (int64_t)a1; t->dtype = a2;
  for (int64_t i = 0; i < t->rank; ++i) { t->shape[i] = shape[i]; t->strides[i] = strides[i]; }
  t->data = (char*)a8 + a4 * (t->dtype == 0 ? 4 : 2);
  return t;""",
    "aclDestroyTensor": "free(a0); return 0;",
}

# What is written for one query; `p` holds the right weights without a mask.
OPS = {
    "mean_of_v": "for (j) p[j] = 1.0 / keys;",
    "ignores_causal": "",
    "largest": "value = sign = -sign; value *= 65504;",
    "nan": "value = NAN;",
    "infinite": "value = INFINITY;",
    "nothing": "continue;",
}

_ATTENTION = """
static int64_t at(const struct tensor* t, int64_t b, int64_t h, int64_t s, int64_t d) {
  return b * t->strides[0] + h * t->strides[1] + s * t->strides[2] + d * t->strides[3];
}
static double get(const struct tensor* t, int64_t b, int64_t h, int64_t s, int64_t d) {
  return (double)((_Float16*)t->data)[at(t, b, h, s, d)];
}
static void compute(struct executor* e) {
  struct tensor *q = &e->q, *k = &e->k, *v = &e->v, *out = &e->out;
  int64_t keys = k->shape[2], group = q->shape[1] / k->shape[1];
  double sign = 1;
  double* p = malloc(sizeof(double) * keys);
  for (int64_t b = 0; b < q->shape[0]; ++b)
  for (int64_t h = 0; h < q->shape[1]; ++h)
  for (int64_t s = 0; s < q->shape[2]; ++s) {
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      p[j] = 0;
      for (int64_t d = 0; d < q->shape[3]; ++d)
        p[j] += get(q, b, h, s, d) * get(k, b, h / group, j, d);
      p[j] /= sqrt((double)q->shape[3]);
      if (p[j] > top) top = p[j];
    }
    for (int64_t j = 0; j < keys; ++j) sum += exp(p[j] - top);
    for (int64_t j = 0; j < keys; ++j) p[j] = exp(p[j] - top) / sum;
    @WEIGHTS@
    for (int64_t d = 0; d < out->shape[3]; ++d) {
      double value = 0;
      for (int64_t j = 0; j < keys; ++j) value += p[j] * get(v, b, h / group, j, d);
      @VALUE@
      ((_Float16*)out->data)[at(out, b, h, s, d)] = (_Float16)value;
    }
    int64_t row = (b * q->shape[1] + h) * q->shape[2] + s;
    @LSE@ ((float*)e->lse.data)[row] = (float)(top + log(sum));
  }
  free(p);
}
"""


def _c_type(kind: Any) -> str:
    return _C_TYPES.get(kind, "void*")


def _signature(name: str) -> str:
    symbol = SYMBOLS[name]
    arguments = ", ".join(f"{_c_type(t)} a{i}" for i, t in enumerate(symbol.argtypes))
    return f"{_c_type(symbol.restype)} {name}({arguments or 'void'})"


def _op_source(op: str, fail_first: int, fail_second: int) -> str:
    first = f"{FLASH_ATTENTION}GetWorkspaceSize"
    types = SYMBOLS[first].argtypes
    handles = [i for i, t in enumerate(types) if t is ctypes.c_void_p]
    ports = dict(zip(("q", "k", "v"), handles[:3], strict=True))
    ports |= dict(zip(("out", "lse"), handles[-2:], strict=True))
    copies = " ".join(f"e->{port} = *(struct tensor*)a{i};" for port, i in ports.items())
    size, result = len(types) - 2, len(types) - 1
    body = OPS[op]
    weights = (
        body.replace("for (j)", "for (int64_t j = 0; j < keys; ++j)") if "p[j]" in body else ""
    )
    source = _ATTENTION.replace("@WEIGHTS@", weights)
    source = source.replace("@VALUE@", "" if weights else body)
    source = source.replace("@LSE@", "if (0)" if op == "nothing" else "")
    crash = "abort();" if fail_second == -1 else "for (;;) {}" if fail_second == -2 else ""
    return f"""
{source}
{_signature(first)} {{
  if ({fail_first}) return {fail_first};
  struct executor* e = calloc(1, sizeof *e);
  {copies}
  *(uint64_t*)a{size} = 0; *(void**)a{result} = e;
  return 0;
}}
{_signature(FLASH_ATTENTION)} {{
  {crash}
  compute(a2); free(a2);
  return {max(fail_second, 0)};
}}
"""


def compile_c(source: str, target: Path, *options: str) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "the tests need a C compiler"
    file = target.with_suffix(".c")
    file.write_text(source)
    command = [compiler, "-O1", "-w", "-shared", "-fPIC", "-o", target, file, "-lm", *options]
    subprocess.run(command, check=True)
    file.unlink()
    return target


def runtime(root: Path, soc: str = "Ascend910B3", devices: int = 1) -> Path:
    """Write libascendcl.so and libnnopbase.so."""
    for library in (ACL, NNOPBASE):
        functions = []
        for name, symbol in SYMBOLS.items():
            if symbol.library == library:
                body = _BODIES.get(name, "return 0;")
                body = body.replace("@SOC@", soc).replace("@DEVICES@", str(devices))
                functions.append(f"{_signature(name)} {{ {body} }}\n")
        compile_c(_PRELUDE + "".join(functions), root / "lib64" / library)
    return root


def op_library(target: Path, op: str = "ignores_causal", first: int = 0, second: int = 0) -> Path:
    """Write a libcust_opapi.so; -1 as the second phase's code crashes, -2 never returns."""
    return compile_c(_PRELUDE + _op_source(op, first, second), target)


def package(folder: Path, library: Path, units: tuple[str, ...] = (UNIT,)) -> Path:
    """Write a vendor folder around an op library."""
    api = folder / "op_api"
    (api / "lib").mkdir(parents=True)
    (api / "include").mkdir()
    shutil.copy(library, api / "lib" / "libcust_opapi.so")
    (api / "include" / "aclnn_flash_attention.h").write_text(
        f"{_signature(FLASH_ATTENTION + 'GetWorkspaceSize')};\n{_signature(FLASH_ATTENTION)};\n"
    )
    tbe = folder / "op_impl" / "ai_core" / "tbe"
    tiling = tbe / "op_tiling/lib/linux" / platform.machine() / "libcust_opmaster_rt2.0.so"
    tiling.parent.mkdir(parents=True)
    shutil.copy(library, tiling)
    for unit in units:
        info = tbe / "config" / unit / f"aic-{unit}-ops-info.json"
        info.parent.mkdir(parents=True)
        info.write_text(json.dumps({"FlashAttention": {}}))
        kernels = tbe / "kernel" / unit / "flash_attention"
        kernels.mkdir(parents=True)
        described = {"binFileName": "FlashAttention_0", "binFileSuffix": ".o"}
        (kernels / "FlashAttention_0.json").write_text(json.dumps(described))
        (kernels / "FlashAttention_0.o").write_bytes(b"kernel")
    return folder


class Machine:
    """A fake machine; `context` is what the checks see of it."""

    def __init__(self, system: Path, libraries: Path, op: Path) -> None:
        self.system = system
        self.root = system / "usr/local/Ascend/cann"
        self.root.parent.mkdir(parents=True)
        shutil.copytree(libraries, self.root)
        (self.root / "version.info").write_text("Version=8.5.0\n")
        (self.root / "set_env.sh").touch()
        self.vendor = package(self.root / "opp" / "vendors" / VENDOR, op)
        self.config = self.root / "opp" / "vendors" / "config.ini"
        self.config.write_text(f"load_priority={VENDOR}\n")
        dev = system / "dev"
        dev.mkdir()
        for name in ("davinci0", "davinci1", "davinci_manager", "devmm_svm", "hisi_hdc"):
            (dev / name).touch()
        self.driver = system / "usr/local/Ascend/driver"
        (self.driver / "lib64/driver").mkdir(parents=True)
        (self.driver / "lib64/driver/libascend_hal.so").touch()
        (self.driver / "version.info").write_text("Version=25.2.0\n")
        self.bin = system / "bin"
        self.bin.mkdir()
        self.program("npu-smi", "echo '| 0  910B3  | OK |'")
        self.environ = {
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            "ASCEND_HOME_PATH": str(self.root),
            "ASCEND_OPP_PATH": str(self.root / "opp"),
            "LD_LIBRARY_PATH": f"{self.root}/lib64",
        }
        self.options: dict[str, Any] = {
            "versions": {"torch": "2.13.0+cpu", "torch_npu": "2.13.0"},
            "initial_environ": {},
            "loaded": (),
        }

    def program(self, name: str, script: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    @property
    def unit_info(self) -> Path:
        return self.vendor / f"op_impl/ai_core/tbe/config/{UNIT}/aic-{UNIT}-ops-info.json"

    @property
    def kernels(self) -> Path:
        return self.vendor / "op_impl/ai_core/tbe/kernel" / UNIT / "flash_attention"

    def context(self, **changes: Any) -> Context:
        options = {"environ": self.environ, "system": self.system, **self.options, **changes}
        return Context(**options)
