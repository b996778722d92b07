"""A YAML file with the line of every key, so that a message can point at the mistake."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from turntable_core.errors import InputError, TurntableError

KeyPath = tuple[Any, ...]  # keys and list indices from the root down


@dataclass(frozen=True)
class YamlDocument:
    file: Path
    value: Any
    lines: dict[KeyPath, int]

    def where(self, path: Sequence[Any] = ()) -> str:
        """`file:line` of what is at `path`, or of the nearest thing above it that is there."""
        for length in range(len(path), -1, -1):
            if line := self.lines.get(tuple(path[:length])):
                return f"{shortened(self.file)}:{line}"
        return shortened(self.file)


def read_yaml(file: Path) -> YamlDocument:
    """Raises TurntableError for what is no YAML, and for keys given twice."""
    try:
        loader = yaml.SafeLoader(file.read_text(encoding="utf-8"))
        node = loader.get_single_node()
        value = loader.construct_document(node) if node else None
    except UnicodeDecodeError as error:
        raise TurntableError(f"{shortened(file)}: not UTF-8: {error}") from None
    except yaml.MarkedYAMLError as error:
        raise TurntableError(_syntax_error(file, error)) from None
    except yaml.YAMLError as error:
        raise TurntableError(f"{shortened(file)}: not valid YAML: {error}") from None
    lines: dict[KeyPath, int] = {}
    for path, key in _keys(node, ()) if node else ():
        line = key.start_mark.line + 1
        if path in lines:
            where, name = f"{shortened(file)}:{line}", ".".join(str(part) for part in path)
            expected = f"every key once; line {lines[path]} has it already"
            raise InputError(where, name, path[-1], expected)
        lines[path] = line
    document = YamlDocument(file, value, lines)
    _refuse_what_is_no_number(document, value, ())
    return document


def shortened(file: Path) -> str:
    """Relative to the working directory if it is below it: easier to read."""
    here = Path.cwd()
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)


def _syntax_error(file: Path, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
    what = " ".join(part for part in (error.context, error.problem) if part)
    text = f"{shortened(file)}{place}: not valid YAML: {what}"
    snippet = mark.get_snippet(indent=2) if mark else None
    return f"{text}\n{snippet}" if snippet else text


def _keys(node: yaml.Node, path: KeyPath) -> Iterator[tuple[KeyPath, yaml.Node]]:
    """Every key and list item below `node`."""
    if isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            here = (*path, _scalar(key))
            yield here, key
            yield from _keys(child, here)
    elif isinstance(node, yaml.SequenceNode):
        for index, child in enumerate(node.value):
            here = (*path, index)
            yield here, child
            yield from _keys(child, here)


def _scalar(node: yaml.Node) -> Any:
    """A key as the loader reads it: 16 is a number, "16" a text."""
    if not isinstance(node, yaml.ScalarNode):
        return str(node.value)
    return (
        yaml.safe_load(yaml.serialize(node)) if node.tag != "tag:yaml.org,2002:str" else node.value
    )


def _refuse_what_is_no_number(document: YamlDocument, value: Any, path: KeyPath) -> None:
    """.nan and .inf pass every comparison with a minimum and a maximum, or one of them."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        here = (*path, key)
        if isinstance(item, float) and not math.isfinite(item):
            name = ".".join(str(part) for part in here)
            raise InputError(document.where(here), name, item, "a finite number")
        _refuse_what_is_no_number(document, item, here)
