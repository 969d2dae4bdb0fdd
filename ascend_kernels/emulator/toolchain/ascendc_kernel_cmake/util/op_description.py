"""An op as the ops-info file describes it, and the macros its kernels are told it by."""

from __future__ import annotations

import configparser
from dataclasses import dataclass, field
from pathlib import Path

# C++ type of DTYPE_<ARG>, and number of ORIG_DTYPE_<ARG> (the host's ge::DataType).
TYPES = {
    "float32": ("float", "DT_FLOAT"),
    "float16": ("half", "DT_FLOAT16"),
    "bfloat16": ("bfloat16_t", "DT_BF16"),
    "double": ("double", "DT_DOUBLE"),
    "bool": ("bool", "DT_BOOL"),
    "int4": ("AscendC::int4b_t", "DT_INT4"),
    "int8": ("int8_t", "DT_INT8"),
    "uint8": ("uint8_t", "DT_UINT8"),
    "int16": ("int16_t", "DT_INT16"),
    "uint16": ("uint16_t", "DT_UINT16"),
    "int32": ("int32_t", "DT_INT32"),
    "uint32": ("uint32_t", "DT_UINT32"),
    "int64": ("int64_t", "DT_INT64"),
    "uint64": ("uint64_t", "DT_UINT64"),
}
DTYPE_NUMBERS = {
    "DT_FLOAT": 0,
    "DT_FLOAT16": 1,
    "DT_INT8": 2,
    "DT_INT32": 3,
    "DT_UINT8": 4,
    "DT_INT16": 6,
    "DT_UINT16": 7,
    "DT_UINT32": 8,
    "DT_INT64": 9,
    "DT_UINT64": 10,
    "DT_DOUBLE": 11,
    "DT_BOOL": 12,
    "DT_BF16": 27,
    "DT_INT4": 29,
}
FORMAT_NUMBERS = {
    "NCHW": 0,
    "NHWC": 1,
    "ND": 2,
    "NC1HWC0": 3,
    "FRACTAL_Z": 4,
    "HWCN": 16,
    "NDHWC": 27,
    "FRACTAL_NZ": 29,
    "NCDHW": 30,
    "NCL": 47,
}

Row = tuple[tuple[str, str], ...]  # (dtype, format) per port


class CompileError(Exception):
    """The kernel cannot be built; the text is for the user."""


@dataclass
class Port:
    """An input or output with its combinations of dtype and format."""

    name: str
    types: list[str]
    formats: list[str]
    presence: str


@dataclass
class Op:
    """An op as the ops-info file describes it for one chip."""

    op_type: str
    file: str
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)

    @property
    def ports(self) -> list[Port]:
        """Kernel arguments in order: inputs, then outputs."""
        return self.inputs + self.outputs


def read_ini(path: Path) -> configparser.ConfigParser:
    """Read an ops-info file, keeping the case of its keys."""
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path)
    return parser


def read_op(ini: configparser.ConfigParser, op_type: str, path: Path) -> Op:
    """Take one op out of an ops-info file."""
    if not ini.has_section(op_type):
        raise CompileError(f"{path}: no section [{op_type}]")
    section = ini[op_type]

    def ports(kind: str) -> list[Port]:
        result = []
        while f"{kind}{len(result)}.name" in section:
            key = f"{kind}{len(result)}"
            result.append(
                Port(
                    section[f"{key}.name"],
                    section[f"{key}.dtype"].split(","),
                    section[f"{key}.format"].split(","),
                    section[f"{key}.paramType"],
                )
            )
        return result

    return Op(op_type, section["opFile.value"], ports("input"), ports("output"))


def combinations(op: Op) -> list[Row]:
    """List the distinct (dtype, format) rows over all ports, in the definition's order."""
    columns = [list(zip(port.types, port.formats, strict=True)) for port in op.ports]
    rows = zip(*columns, strict=True)
    return list(dict.fromkeys(rows))


def combination_macros(op: Op, row: Row) -> list[str]:
    """Define what tells a kernel its data types and formats."""
    macros = [f"-D{name}={number}" for name, number in DTYPE_NUMBERS.items()]
    macros += [f"-DFORMAT_{name}={number}" for name, number in FORMAT_NUMBERS.items()]
    for port, (dtype, fmt) in zip(op.ports, row, strict=True):
        cpp_type, number = TYPES[dtype]
        arg = port.name.upper()
        macros += [
            f"-DDTYPE_{arg}={cpp_type}",
            f"-DORIG_DTYPE_{arg}={number}",
            f"-DFORMAT_{arg}=FORMAT_{fmt}",
        ]
    return macros


def ops_info_json(ini: configparser.ConfigParser) -> dict[str, dict[str, dict[str, str]]]:
    """Turn an ops-info file into the JSON the package carries."""
    result: dict[str, dict[str, dict[str, str]]] = {}
    for op_type in ini.sections():
        entry: dict[str, dict[str, str]] = {}
        for key, value in ini[op_type].items():
            group, _, item = key.partition(".")
            entry.setdefault(group, {})[item] = value
        result[op_type] = entry
    return result
