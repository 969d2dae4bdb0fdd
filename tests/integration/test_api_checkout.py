"""A Python started inside a checkout, whose package folder holds no toolkit, after pip install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ascendfa.native.backend import PACKAGED_TOOLKIT

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif("ASCENDFA_EMULATOR_HOME" in os.environ, reason="a toolkit is named")
@pytest.mark.skipif(not PACKAGED_TOOLKIT.is_dir(), reason="ascendfa is not installed")
def test_the_checkout_runs_on_the_installed_toolkit():
    code = (
        "import numpy, ascendfa\n"
        "print(ascendfa.__file__)\n"
        "one = numpy.ones((1, 1, 1, 64), numpy.float16)\n"
        "print(float(ascendfa.flash_attention(one, one, one).max()))\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(ROOT / "ascendfa" / "__init__.py"), "1.0"]
