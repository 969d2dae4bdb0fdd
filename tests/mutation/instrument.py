"""Finds every synchronisation call of a kernel's sources and routes it through sync_points.h."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FLAGS = ("SetFlag", "WaitFlag", "CrossCoreSetFlag", "CrossCoreWaitFlag")
GATES = ("PipeBarrier", "SyncAll", "DataSyncBarrier", "IBSet", "IBWait")
PRIMITIVE = re.compile(rf"\bAscendC::({'|'.join((*FLAGS, *GATES))})\s*(<[^;(){{}}]*>)?\s*\(")
DEFINITION = re.compile(r"\b(\w+)\s*\(([^;{}()]|\([^()]*\))*\)\s*(const\s*)?\{")
NOT_FUNCTIONS = {"if", "for", "while", "switch", "return"}
# Longer functions do more than to wrap a flag; what they do is looked at call by call.
MAX_WRAPPER_LINES = 10


@dataclass(frozen=True)
class Place:
    """A synchronisation call, or a call of a function that only wraps flags."""

    number: int
    file: str
    line: int
    function: str  # around it
    text: str
    wrapper: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.text}"


def mask(text: str) -> str:
    """Blank out comments and literals; every other character keeps its position."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.DOTALL)


def closing(text: str, start: int, pair: str) -> int:
    """Position after the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if depth == 0:
            return at + 1
    raise ValueError(f"unbalanced {pair}")


def functions_in(text: str) -> list[tuple[str, int, int]]:
    """Name and extent of the functions defined in masked text, outer ones first."""
    return [
        (match.group(1), match.end() - 1, closing(text, match.end() - 1, "{}"))
        for match in DEFINITION.finditer(text)
        if match.group(1) not in NOT_FUNCTIONS
    ]


def wrappers_in(text: str) -> set[str]:
    """Names of the short functions in which flags are set or awaited."""
    flags = [m.start() for m in PRIMITIVE.finditer(text) if m.group(1) in FLAGS]
    return {
        name
        for name, start, end in functions_in(text)
        if text.count("\n", start, end) < MAX_WRAPPER_LINES
        and any(start < flag < end for flag in flags)
    }


@dataclass(frozen=True)
class _Call:
    start: int
    end: int
    name: str
    template: str
    arguments: str
    wrapper: bool


def _calls(text: str, wrappers: set[str]) -> list[_Call]:
    found = []
    for match in PRIMITIVE.finditer(text):
        end = closing(text, match.end() - 1, "()")
        arguments = text[match.end() : end - 1]
        found.append(
            _Call(match.start(), end, match.group(1), match.group(2) or "", arguments, False)
        )
    if wrappers:
        # Only on an object or with template arguments, which definitions have not.
        receiver = r"(?<![\w.])(?:\w+(?:\[[^\]\n]*\])?(?:\.|->))+"
        name = f"({'|'.join(sorted(wrappers))})"
        on_object = re.compile(rf"{receiver}{name}\s*\(")
        of_template = re.compile(rf"(?<![\w.:>]){name}\s*<[^;(){{}}]*>\s*\(")
        for match in (*on_object.finditer(text), *of_template.finditer(text)):
            end = closing(text, match.end() - 1, "()")
            found.append(_Call(match.start(), end, match.group(1), "", "", True))
    return sorted(found, key=lambda call: call.start)


def _routed(call: _Call, text: str, number: int) -> str:
    if call.wrapper:
        return f"sync_points::In({number}, [&]() -> decltype(auto) {{ return {text}; }})"
    if call.name in ("SetFlag", "WaitFlag"):
        return f"sync_points::{call.name}{call.template}({number}, {call.arguments})"
    if call.name.startswith("CrossCore"):
        kind = "CrossSet" if call.name.endswith("SetFlag") else "CrossWait"
        return f"sync_points::{kind}({number}, {call.arguments}, [&] {{ {text}; }})"
    return f"sync_points::Gate({number}, [&] {{ {text}; }})"


def instrument(source: Path, target: Path) -> list[Place]:
    """Write routed copies of all sources under `source` to `target` and list their places."""
    files = sorted(f for f in source.rglob("*") if f.suffix in (".h", ".hpp", ".cpp"))
    texts = {f: f.read_text() for f in files}
    masked = {f: mask(text) for f, text in texts.items()}
    wrappers = set().union(*(wrappers_in(text) for text in masked.values()))
    header = Path(__file__).with_name("sync_points.h").resolve()
    places: list[Place] = []
    for file in files:
        text, pieces, at = texts[file], [], 0
        name = str(file.relative_to(source))
        calls = _calls(masked[file], wrappers)
        functions = functions_in(masked[file])
        for call in calls:
            if call.start < at:
                raise ValueError(f"{name}: calls within calls are not taken apart: {call}")
            original = text[call.start : call.end]
            line = text.count("\n", 0, call.start) + 1
            snippet = " ".join(original.split()).replace("AscendC::", "")
            around = [f for f, start, end in functions if start < call.start < end]
            function = around[-1] if around else ""
            places.append(Place(len(places), name, line, function, snippet, call.wrapper))
            pieces += [text[at : call.start], _routed(call, original, places[-1].number)]
            at = call.end
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        # Reports name the line of the kernel, not of its copy.
        prefix = f'#include "{header}"\n#line 1 "{file.resolve()}"\n' if calls else ""
        copy.write_text(prefix + "".join(pieces) + text[at:])
    return places
