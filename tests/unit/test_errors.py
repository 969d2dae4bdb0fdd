from __future__ import annotations

import pytest

from ascendfa import errors


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_has_the_common_base(name):
    assert issubclass(getattr(errors, name), errors.AscendFAError)


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("InvalidArgumentError", ValueError),
        ("ShapeError", ValueError),
        ("DeviceMismatchError", ValueError),
        ("NotSupportedError", ValueError),
        ("TileError", ValueError),
        ("ConfigError", ValueError),
        ("UnknownChipError", ValueError),
        ("ArgumentTypeError", TypeError),
        ("DTypeError", TypeError),
        ("AclError", RuntimeError),
        ("BackendError", OSError),
        ("LibraryNotFoundError", OSError),
        ("SymbolNotFoundError", OSError),
    ],
)
def test_errors_are_also_the_builtin_a_caller_expects(name, builtin):
    assert issubclass(getattr(errors, name), builtin)


def test_an_acl_error_says_function_code_meaning_message_and_hint():
    text = str(
        errors.AclError("aclrtMalloc", 207001, "out of device memory", "EL0004", "free some")
    )
    for part in ("aclrtMalloc", "207001", "out of device memory", "EL0004", "free some"):
        assert part in text


def test_an_acl_error_without_message_and_hint_is_one_line():
    assert str(errors.AclError("f", 1, "unknown code", "", "")) == "f failed with 1 (unknown code)"
