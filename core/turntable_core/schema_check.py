"""Values against JSON schemas; messages say what was expected, and where the value is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from turntable_core.errors import MISSING, InputError, did_you_mean
from turntable_core.yaml_document import KeyPath


def check(
    value: Any,
    schema: Mapping[str, Any],
    where: Callable[[KeyPath], str],
    root: KeyPath = (),
) -> None:
    """Raises InputError for the first (by name) violation of `schema`.

    root: the path of `value` itself; where: says in which file and line a path is.
    """
    errors = sorted(
        Draft202012Validator(schema).iter_errors(value),
        key=lambda error: [str(p) for p in error.absolute_path],
    )
    if not errors:
        return
    error, path = errors[0], (*root, *errors[0].absolute_path)
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        known = error.schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in known)
        here = (*path, unknown)
        expected = f"a known key{did_you_mean(unknown, known)}; known: {', '.join(known)}"
        raise InputError(where(here), name_of(here), error.instance[unknown], expected)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        schema_of_missing = error.schema.get("properties", {}).get(missing, {})
        expected = describe(schema_of_missing)
        raise InputError(where(path), name_of((*path, missing)), MISSING, expected)
    expected = describe(error.schema)
    if error.validator in ("minProperties", "maxProperties"):  # it is a mapping
        expected = error.schema.get("description", expected)
    raise InputError(where(path), name_of(path), error.instance, expected)


def name_of(path: KeyPath) -> str:
    return ".".join(str(part) for part in path) or "(whole document)"


def describe(schema: Mapping[str, Any]) -> str:
    """What a value has to look like, in words."""
    if "enum" in schema:
        text = "one of " + ", ".join(str(level) for level in schema["enum"])
    else:
        bounds = [
            words.format(schema[key])
            for key, words in (
                ("minimum", "at least {}"),
                ("exclusiveMinimum", "more than {}"),
                ("maximum", "at most {}"),
                ("exclusiveMaximum", "less than {}"),
                ("minItems", "of at least {} level(s)"),
                ("uniqueItems", "each of them once"),
                ("pattern", "matching {}"),
                ("minLength", "of at least {} character(s)"),
            )
            if key in schema
        ]
        kind = {
            "integer": "an integer",
            "number": "a number",
            "string": "a text",
            "boolean": "true or false",
            "object": "a mapping",
            "array": "a list",
        }.get(str(schema.get("type")), "a value")
        text = " ".join([kind, " and ".join(bounds)]).strip()
    return f"{text} ({schema['description']})" if "description" in schema else text
