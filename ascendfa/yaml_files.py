"""Reading YAML files into pydantic models, with errors that name file and line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from ascendfa.errors import ConfigError

__all__ = ["load_yaml"]

Path_ = tuple[str | int, ...]


class _PlaceKeeper(yaml.SafeLoader):
    """A safe loader that refuses duplicate keys, which YAML parsers otherwise drop in silence."""


def _mapping_without_duplicates(loader: _PlaceKeeper, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: dict[Any, int] = {}
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if not isinstance(key, str):
            raise ConfigError(f"key {key!r} is not a string", loader.name, line)
        if key in seen:
            raise ConfigError(
                f"duplicate key '{key}', first on line {seen[key]}", loader.name, line
            )
        seen[key] = line
    return loader.construct_mapping(node, deep=True)


_PlaceKeeper.add_constructor("tag:yaml.org,2002:map", _mapping_without_duplicates)


def _lines(
    node: yaml.Node, path: Path_ = (), around: tuple[yaml.Node, ...] = ()
) -> dict[Path_, int]:
    """Map the path of every key and list item to its line; an alias may contain itself."""
    lines = {path: node.start_mark.line + 1}
    if node in around:
        return lines
    around = (*around, node)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*path, str(key.value))
            lines |= _lines(value, inner, around)
            lines[inner] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            lines |= _lines(item, (*path, index), around)
    return lines


Model = TypeVar("Model", bound=BaseModel)


def load_yaml(file: Path, model: type[Model]) -> Model:
    """Read and validate a YAML file.

    Raises
    ------
    ConfigError
        Naming file and line, for syntax, unknown or duplicate keys and bad values.
    """
    name = str(file)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", name) from error
    try:
        loader = _PlaceKeeper(text)
        loader.name = name
        node = loader.get_single_node()
        data = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise ConfigError(f"is not valid YAML: {error.problem}", name, line) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"is not valid YAML: {error}", name) from error
    if node is None:
        needed = " and ".join(
            f"'{key}: {'1' if key == 'version' else '...'}'"
            for key, field in model.model_fields.items()
            if field.is_required()
        )
        raise ConfigError(f"is empty; at least {needed} are needed", name, 1)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _located(error, name, _lines(node), model) from None


def _model_at(model: type[BaseModel], place: Sequence[str | int]) -> type[BaseModel]:
    """Follow a path of keys and list indices to the model that describes its last mapping."""
    for key in place[:-1]:
        field = model.model_fields.get(str(key))
        waiting: list[Any] = [] if field is None else [field.annotation]
        while waiting:
            kind = waiting.pop()
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                model = kind
                break
            waiting += get_args(kind)
    return model


def _located(
    error: ValidationError, file: str, lines: dict[Path_, int], root: type[BaseModel]
) -> ConfigError:
    found = error.errors()
    # A misspelt key is also a missing one; the misspelling is the cause.
    first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
    place = first["loc"]
    line = next(lines[place[:n]] for n in range(len(place), -1, -1) if place[:n] in lines)
    dotted = ".".join(map(str, place)) or "the document"
    if first["type"] == "extra_forbidden":
        model = _model_at(root, place)
        message = f"unknown key '{dotted}'; known keys are {', '.join(model.model_fields)}"
    elif first["type"] == "missing":
        message = f"key '{dotted}' is missing"
    else:
        message = f"'{dotted}' is {first['input']!r}: {first['msg']}"
    return ConfigError(message, file, line)
