"""All checks, in the order they run: a later one may rely on what an earlier one found out."""

from __future__ import annotations

from ascendfa.cli.checks.cann import check_cann
from ascendfa.cli.checks.compiler import check_compiler
from ascendfa.cli.checks.driver import check_driver, check_soc
from ascendfa.cli.checks.early import check_early
from ascendfa.cli.checks.files import check_files
from ascendfa.cli.checks.launch import check_launch
from ascendfa.cli.checks.libraries import check_libraries, check_shadowing
from ascendfa.cli.checks.numerics import check_numerics
from ascendfa.cli.checks.python import check_python
from ascendfa.cli.checks.result import Check
from ascendfa.cli.checks.signature import check_signature
from ascendfa.cli.checks.vendors import check_vendors

__all__ = ["CHECKS"]

CHECKS: tuple[Check, ...] = (
    check_python,
    check_cann,
    check_compiler,
    check_driver,
    check_soc,
    check_vendors,
    check_early,
    check_files,
    check_shadowing,
    check_signature,
    check_libraries,
    check_launch,
    check_numerics,
)
