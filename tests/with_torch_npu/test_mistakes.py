"""Plants one mistake at a time and expects the test meant for it to fail."""

from __future__ import annotations

from pathlib import Path

import mistakes
import pytest

HERE = Path(__file__).parent

STREAMS, TENSORS, FAILURES = "test_streams.py::", "test_tensors.py::", "test_failures.py::"
NOTICED_BY = {
    "copies-its-inputs": TENSORS + "test_tensors_are_read_where_they_are_and_nothing_is_copied",
    "waits-for-the-result": STREAMS + "test_the_call_returns_before_the_stream_has_got_there",
    "takes-the-default-stream": STREAMS + "test_it_runs_on_the_current_stream",
    "keeps-the-streams-handle": STREAMS + "test_it_comes_after_what_torch_still_holds_back",
    "keeps-the-first-stream-of-a-device": STREAMS + "test_threads_compute_on_streams_of_their_own",
    "wait-stream-is-forgotten": STREAMS
    + "test_another_streams_work_is_waited_for_with_wait_stream",
    "shares-one-workspace": STREAMS + "test_streams_that_run_at_once_have_workspaces_of_their_own",
    "stays-on-the-current-device": TENSORS
    + "TestDevices::test_the_result_is_on_the_tensors_device_whichever_is_current",
    "takes-another-devices-stream": TENSORS
    + "TestDevices::test_work_is_queued_on_the_tensors_device",
    "leaves-the-device-current": TENSORS
    + "TestDevices::test_the_result_is_on_the_tensors_device_whichever_is_current",
    "ignores-strides": TENSORS + "TestViews::test_transposed_axes",
    "ignores-the-offset": TENSORS + "TestViews::test_a_slice_of_the_heads",
    "believes-any-format": TENSORS + "TestRefusals::test_a_private_format",
    "goes-on-without-memory": FAILURES
    + "test_a_workspace_that_does_not_fit_is_torchs_out_of_memory",
    "ignores-codes": FAILURES + "test_a_code_of_the_first_phase_is_an_exception",
}


def test_every_mistake_has_a_test():
    assert set(NOTICED_BY) == set(mistakes.ALL)


@pytest.mark.parametrize("mistake", sorted(mistakes.ALL))
def test_a_mistake_is_noticed(mistake):
    options = ["-q", "-p", "no:cacheprovider", "-c", str(HERE / "pytest.ini")]
    code = pytest.main([*options, "--mistake", mistake, str(HERE / NOTICED_BY[mistake])])
    assert code == pytest.ExitCode.TESTS_FAILED
