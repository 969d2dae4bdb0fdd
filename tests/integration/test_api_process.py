"""What a whole process does with the library: no device, forks, exits."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ascendfa

pytestmark = pytest.mark.device

_PRELUDE = """\
import os, signal, sys, threading, time
import numpy as np
import ascendfa

def attend(seq=16):
    x = np.ones((1, 1, seq, 16), np.float16)
    return ascendfa.flash_attention(x, x, x)

"""


def in_a_process(script: str, **environment: str) -> str:
    package = Path(ascendfa.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", _PRELUDE + textwrap.dedent(script)],
        env=os.environ | environment | {"PYTHONPATH": str(package)},
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_device_is_a_clear_error(request):
    if request.config.getoption("--backend") == "npu":
        pytest.skip("the devices are what they are")
    done = in_a_process(
        """
        try:
            attend()
        except ascendfa.errors.BackendError as error:
            print(error)
        """,
        ASCENDFA_EMULATOR_DEVICES="0",
    )
    assert "no device" in done


def test_a_forked_child_can_exit():
    done = in_a_process(
        """
        attend()
        child = os.fork()
        if child == 0:
            sys.exit(3)
        for _ in range(200):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            time.sleep(0.05)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            sys.exit("the child hangs")
        attend()
        print("child", os.waitstatus_to_exitcode(status))
        """
    )
    assert done == "child 3\n"


def test_a_process_can_exit_while_a_thread_computes():
    done = in_a_process(
        """
        def work():
            while True:
                attend(200)
                started.set()

        started = threading.Event()
        threading.Thread(target=work, daemon=True).start()
        assert started.wait(30)
        print("leaving")
        """
    )
    assert done == "leaving\n"


def test_an_interrupted_call_leaves_the_library_usable():
    done = in_a_process(
        """
        attend()
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                attend(200)
        except KeyboardInterrupt:
            print(attend().min())
        """
    )
    assert done == "1.0\n"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ASCENDFA_EMULATOR_DEVICES", "two"),
        ("ASCENDFA_EMULATOR_DEVICES", "-1"),
        ("ASCENDFA_EMULATOR_DEVICES", "1000000"),
        ("ASCENDFA_EMULATOR_HBM_MIB", "64GB"),
        ("ASCENDFA_EMULATOR_HBM_MIB", "0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(request, variable, value):
    if request.config.getoption("--backend") == "npu":
        pytest.skip("a device has no such settings")
    done = in_a_process(
        """
        try:
            attend()
        except ascendfa.errors.AclError as error:
            print(error)
        """,
        **{variable: value},
    )
    assert f"{variable} is '{value}'" in done
