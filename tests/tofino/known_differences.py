"""Where p4soft and the Tofino compiler differ on a RegisterAction, as docs/p4soft.md says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .random_register_actions import RegisterAction

CRASH = "Compiler Bug"
# Parts of p4soft's messages: what it refuses though the compiler takes it, and computes otherwise.
COMPUTED_OTHERWISE = (
    "a value computed from one that it computes",
    "a second value in the same case",
    "a local variable that ends with the cell",
    "this result of a register of bits",
)

# Code without effect: the compiler leaves it out before it looks for room, p4soft counts it.
_OPERAND = r"(?<![\w.)])(?P<x>\(\(int<\d+>\) [\w.]+\)|[\w.]+)"
_GREATEST = "(8w255|16w65535|32w4294967295)"
_WITHOUT_EFFECT = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"{_OPERAND} ([<>=!]=|[-<>^&|]) (?P=x)(?![\w.])",  # of a thing and itself
        rf"(>=|<) \d+w0\b|\b\d+w0 (<=|>) |(>|<=) {_GREATEST}\b|\b{_GREATEST} (<|>=) ",
        r"[-+|^&] \d+[ws]0\b|\b\d+[ws]0 [-+|^&] ",
        rf"& {_GREATEST}\b|\b{_GREATEST} & ",
        r"^ *(?P<x>\S+) = (?P=x);",
        r"\{\n *;\n *\}",
        r"^ *(bit<\d+> |int<\d+> )?[tu] = ~?\d+[ws]\d+;",  # a constant by another name
    )
]
# Results of a pair: a complement, which is lost, and a packet field made wider.
_RESULT_OF_A_PAIR = re.compile(
    r"\brv = (\(bit<\d+>\) \()?(~|\(+(bit|int)<\d+>\) \(?\(?.*hdr\.in_\.a8)"
)
_LOCAL = re.compile(r"\b[tu]\b")
_ASSIGNMENT = re.compile(r" *(?:(?:bit|int)<\d+> )?(?P<target>\S+) = (?P<value>.*);")


def is_known(action: RegisterAction, ours: str | None, theirs: str | None) -> bool:
    """Of two that differ: p4soft's message and the compiler's; None: it takes the action."""
    text = "\n".join(action.body)
    if ours is None:
        return theirs == CRASH and "= min(" in text.replace("max(", "min(")
    if action.cell.pair and _RESULT_OF_A_PAIR.search(text):
        return True
    return (
        any(part in ours for part in COMPUTED_OTHERWISE)
        or any(pattern.search(text) for pattern in _WITHOUT_EFFECT)
        or _has_assignment_without_effect(action.body)
    )


@dataclass(frozen=True)
class _Assignment:
    target: str
    read: set[str]  # variables, in the value and in the conditions around it


def _has_assignment_without_effect(body: list[str]) -> bool:
    """One to a variable that nothing after it reads, but what has no effect either."""
    read: set[str] = set()
    for assignment in reversed(_assignments(body)):
        if assignment.target in ("t", "u") and assignment.target not in read:
            return True
        read |= assignment.read
    return False


def _assignments(body: list[str]) -> list[_Assignment]:
    found = []
    conditions: list[set[str]] = []
    for line in body:
        if line.endswith("}"):
            conditions.pop()
        elif line.endswith("} else {"):
            pass  # the same condition
        elif line.endswith("{"):
            conditions.append(set(_LOCAL.findall(line)))
        elif assignment := _ASSIGNMENT.fullmatch(line):
            read = set(_LOCAL.findall(assignment["value"])).union(*conditions)
            found.append(_Assignment(assignment["target"], read))
    return found
