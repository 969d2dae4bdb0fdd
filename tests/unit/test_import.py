from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str) -> str:
    path = f"import sys; sys.path[:] = {sys.path!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", path + code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_importing_loads_no_heavy_package_and_opens_no_library():
    loaded = run(
        "import ascendfa\n"
        "heavy = 'torch', 'typer', 'matplotlib', 'rich', 'numpy', 'pydantic'\n"
        "print([m for m in heavy if m in sys.modules])\n"
        "print('libascendcl' in open('/proc/self/maps').read())"
    )
    assert loaded == "[]\nFalse"


def test_a_numpy_call_does_not_import_torch():
    loaded = run(
        "import ascendfa, numpy as np\n"
        "q = np.zeros((1, 1, 0, 64), np.float16)\n"
        "ascendfa.flash_attention(q, q, q)\n"
        "print('torch' in sys.modules, 'typer' in sys.modules)"
    )
    assert loaded == "False False"


def test_every_public_name_resolves():
    import ascendfa

    for name in ascendfa.__all__:
        assert getattr(ascendfa, name) is not None
        assert name in dir(ascendfa)


def test_an_unknown_name_is_an_attribute_error():
    import ascendfa

    with pytest.raises(AttributeError, match="no attribute 'flash'"):
        ascendfa.flash  # noqa: B018
