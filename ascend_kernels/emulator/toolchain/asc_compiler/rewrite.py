"""Rewrites preprocessed ASC source: kernel qualifiers and `kernel<<<...>>>(...)` launches."""

from __future__ import annotations

import re
from dataclasses import dataclass

# The driver defines the qualifiers as these markers before preprocessing.
GLOBAL, VECTOR, CUBE, MIX = ("__dav_global__", "__dav_vector__", "__dav_cube__", "__dav_mix__")
MARKERS = {
    "__global__": GLOBAL,
    "__vector__": VECTOR,
    "__cube__": CUBE,
    "__mix__(...)": f"{MIX}(__VA_ARGS__)",
}

# Kernel types in the order of dav::asc::Type, with the core kinds that have an image.
TYPES = {
    "AivOnly": ("aiv",),
    "AicOnly": ("aic",),
    "MixAic11": ("aic", "aiv"),
    "MixAic12": ("aic", "aiv"),
    "MixAiv10": ("aiv",),
    "MixAic10": ("aic",),
    "Coupled": ("aic",),
}
TASK_TYPES = {
    "KERNEL_TYPE_AIV_ONLY": "AivOnly",
    "KERNEL_TYPE_AIC_ONLY": "AicOnly",
    "KERNEL_TYPE_MIX_AIC_1_1": "MixAic11",
    "KERNEL_TYPE_MIX_AIC_1_2": "MixAic12",
    "KERNEL_TYPE_MIX_AIV_1_0": "MixAiv10",
    "KERNEL_TYPE_MIX_AIC_1_0": "MixAic10",
}
MIX_TYPES = {(1, 1): "MixAic11", (1, 2): "MixAic12", (1, 0): "MixAic10", (0, 1): "MixAiv10"}

TOKEN = re.compile(
    r'R"(?P<delim>[^()\\ ]{0,16})\((?:.|\n)*?\)(?P=delim)"|"(?:\\.|[^"\\\n])*"|'
    r"'(?:\\.|[^'\\\n])+'|[A-Za-z_]\w*|\d[\w.']*|::|->|.",
    re.S,
)
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = set(OPENING.values())


class RewriteError(Exception):
    """The source cannot be rewritten; the text is for the user."""


@dataclass
class Kernel:
    name: str
    type: str | None  # None until guessed from what the source calls
    bodies: list[tuple[int, int]]  # positions of { and behind }


@dataclass
class Launch:
    begin: int  # of the kernel's name
    callee: str
    config: tuple[int, int]
    end: int  # behind >>>
    name: str


def match_close(text: str, position: int) -> int:
    """Position behind the bracket that closes the one at `position`."""
    stack: list[str] = []
    for token in TOKEN.finditer(text, position):
        value = token.group()
        if value in OPENING:
            stack.append(OPENING[value])
        elif value in CLOSING:
            if value != stack.pop():
                raise RewriteError(f"unbalanced '{value}' near {where(text, token.start())}")
            if not stack:
                return token.end()
    raise RewriteError(f"bracket without end near {where(text, position)}")


def where(text: str, position: int) -> str:
    """File and line of a position in preprocessed text."""
    name, line, start = "source", 1, 0
    markers = list(re.finditer(r'^# (\d+) "([^"]*)".*$', text[:position], re.M))
    if markers:
        line, name, start = int(markers[-1][1]), markers[-1][2], markers[-1].end() + 1
    return f"{name}:{line + text.count(chr(10), start, position)}"


def in_string(text: str, position: int) -> bool:
    start = text.rfind("\n", 0, position) + 1
    return any(
        token.start() < position < token.end()
        for token in TOKEN.finditer(text, start, position + 1)
    )


def declaration_start(text: str, position: int) -> int:
    return max(text.rfind(c, 0, position) for c in ";}{") + 1


def find_kernels(text: str) -> dict[str, Kernel]:
    kernels: dict[str, Kernel] = {}
    position = 0
    while True:
        position = text.find(GLOBAL, position)
        if position < 0:
            return kernels
        qualifiers = text[declaration_start(text, position) : position]
        cursor = position + len(GLOBAL)
        position = cursor
        name = ""
        while True:
            token = TOKEN.search(text, cursor)
            if token is None:
                raise RewriteError(f"__global__ without function at {where(text, position)}")
            value = token.group()
            if value in (MIX, "__attribute__", "__launch_bounds__"):
                opening = text.index("(", token.end())
                cursor = match_close(text, opening)
                qualifiers += " " + text[token.start() : cursor]
                continue
            if value == "(":
                break
            if re.match(r"[A-Za-z_]", value):
                qualifiers += " " + value
                name = value
            cursor = token.end()
        cursor = match_close(text, token.start())
        behind = re.compile(r"(?:\s|^#.*$)*", re.M).match(text, cursor)
        cursor = behind.end() if behind else cursor
        kernel = kernels.setdefault(name, Kernel(name, None, []))
        kernel.type = kernel.type or stated_type(qualifiers, text, position)
        if text[cursor] == "{":
            end = match_close(text, cursor)
            kernel.bodies.append((cursor, end))
            kernel.type = task_type(text[cursor:end], text, cursor) or kernel.type
            position = end


def stated_type(qualifiers: str, text: str, position: int) -> str | None:
    if VECTOR in qualifiers:
        return "AivOnly"
    if CUBE in qualifiers:
        return "AicOnly"
    mix = re.search(MIX + r"\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)", qualifiers)
    if mix is None:
        return None
    ratio = int(mix.group(1)), int(mix.group(2))
    if ratio not in MIX_TYPES:
        raise RewriteError(
            f"{where(text, position)}: __mix__{ratio} is not supported; "
            f"supported: {', '.join(f'__mix__{r}' for r in MIX_TYPES)}"
        )
    return MIX_TYPES[ratio]


def task_type(body: str, text: str, position: int) -> str | None:
    # The preprocessor puts line markers into what macros of system headers expand to.
    plain = re.sub(r"^#.*$", "", body, flags=re.M)
    stated = re.search(r"__dav_kernel_type_default\(\s*(\w+)\s*\)", plain)
    if stated is None:
        return None
    if stated.group(1) not in TASK_TYPES:
        raise RewriteError(
            f"{where(text, position)}: kernel type {stated.group(1)} is not "
            f"supported; supported: {', '.join(TASK_TYPES)}"
        )
    return TASK_TYPES[stated.group(1)]


def callee_start(text: str, end: int) -> int:
    """Where the (qualified) name with template arguments that ends at `end` begins."""
    cursor = end
    while True:
        cursor = len(text[:cursor].rstrip())
        if text[cursor - 1] == ">":
            depth = 0
            while True:
                cursor -= 1
                depth += {">": 1, "<": -1}.get(text[cursor], 0)
                if depth == 0:
                    break
                if text[cursor] in ";{}":
                    raise RewriteError(
                        f"{where(text, end)}: cannot read the template arguments of this launch"
                    )
            cursor = len(text[:cursor].rstrip())
        word = re.search(r"[A-Za-z_]\w*$", text[max(0, cursor - 256) : cursor])
        if word is None:
            raise RewriteError(f"{where(text, end)}: no kernel name before <<<")
        cursor -= len(word.group())
        before = text[max(0, cursor - 64) : cursor].rstrip()
        if not before.endswith("::"):
            return cursor
        cursor = len(text[:cursor].rstrip()) - 2
        if not re.search(r"[\w>]$", text[max(0, cursor - 64) : cursor].rstrip()):
            return cursor


def find_launches(text: str) -> list[Launch]:
    launches = []
    for opening in re.finditer(r"<<\s*<(?!<)", text):
        if in_string(text, opening.start()):
            continue
        if re.search(r"\boperator\s*$", text[max(0, opening.start() - 32) : opening.start()]):
            continue
        depth, end, cursor = 0, None, opening.end()
        for token in TOKEN.finditer(text, cursor):
            value = token.group()
            if value in OPENING:
                depth += 1
            elif value in CLOSING:
                depth -= 1
            elif value == ";" and depth == 0:
                break
            elif depth == 0 and value == ">":
                closing = re.compile(r">>\s*>").match(text, token.start())
                if closing:
                    end = (token.start(), closing.end())
                    break
        if end is None:
            raise RewriteError(f"{where(text, opening.start())}: <<< without >>>")
        begin = callee_start(text, opening.start())
        callee = text[begin : opening.start()]
        name = re.findall(r"[A-Za-z_]\w*", re.sub(r"<.*", "", callee, flags=re.S))[-1]
        launches.append(Launch(begin, callee, (opening.end(), end[0]), end[1], name))
    return launches


def rewrite(text: str, kernels: dict[str, Kernel], core: str, module: str, number: int) -> str:
    """The text for one pass; `core` is aic, aiv or host.

    Launches are numbered from `number` on, alike in every pass.
    """
    edits: list[tuple[int, int, str]] = []
    for kernel in kernels.values():
        if core not in TYPES[str(kernel.type)]:
            for begin, end in kernel.bodies:
                edits.append((begin, end, "{" + "\n" * text.count("\n", begin, end) + "}"))
    stripped = [(begin, end) for begin, end, _ in edits]
    for index, launch in enumerate(find_launches(text), number):
        if any(begin <= launch.begin < end for begin, end in stripped):
            continue
        if launch.name not in kernels:
            raise RewriteError(
                f"{where(text, launch.begin)}: {launch.name} is launched but no "
                "__global__ function of that name is declared"
            )
        kind = str(kernels[launch.name].type)
        here = core == "host" or core in TYPES[kind]
        call = f"{launch.callee}(dav_arguments...);" if here else "\n" * launch.callee.count("\n")
        edits.append(
            (
                launch.begin,
                launch.config[0],
                f"::dav::asc::launch{f'<{index}>' if here else '_elsewhere'}(&{module}, "
                f'::dav::asc::Type::{kind}, "{launch.name}", '
                f"[]([[maybe_unused]] auto... dav_arguments) {{ {call} }}, ",
            )
        )
        edits.append((launch.config[1], launch.end, ")"))
    result, position = [], 0
    for begin, end, new in sorted(edits):
        result += [text[position:begin], new]
        position = end
    result.append(text[position:])
    text = clean("".join(result))
    if core == "host":
        return text
    # Calls, not the declaration; line markers may stand anywhere in them.
    call = re.compile(r"\b__assert_fail(?=(?:\s|^#.*$)*\((?!\s*const\b))", re.M)
    return call.sub("dav_asc_assert_failed", text)


# The compiler's own spelling of __host_aicore__ and __aicore__.
EXECUTION_SPACE = re.compile(r"\[\s*(?:host\s*,\s*aicore|aicore\s*,\s*host|aicore)\s*\]")


def clean(text: str) -> str:
    text = EXECUTION_SPACE.sub("", text)
    text = re.sub(rf"{MIX}\s*\([^)]*\)|{GLOBAL}|{VECTOR}|{CUBE}", "", text)
    return re.sub(r"__dav_kernel_type(_default)?\([^)]*\)", "static_assert(true)", text)
