"""What programs declare, counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

from p4soft.cli import translate
from p4soft.usage import declared

P4 = Path(__file__).resolve().parents[2] / "p4"


def key(match_type: str, width: int) -> dict:
    return {"name": "k", "match_type": match_type, "type": {"type": "bytes", "width": width}}


def cells(*widths: int) -> list[dict]:
    return [{"singleton": {"type": {"type": "bytes", "width": width}}} for width in widths]


def test_tables_and_registers_of_a_small_program() -> None:
    priority = {"name": "$MATCH_PRIORITY", "match_type": "Exact", "type": {"type": "uint32"}}
    index = {"name": "$REGISTER_INDEX", "match_type": "Exact", "type": {"type": "uint32"}}
    match = "MatchAction_Direct"
    tables = [
        {"table_type": match, "size": 10, "key": [key("Exact", 32), key("Exact", 9)], "data": []},
        {"table_type": match, "size": 4, "key": [key("Exact", 8), key("Range", 16), priority]},
        {"table_type": match, "size": 1, "key": []},  # always does the same
        {"table_type": "Register", "size": 100, "key": [index], "data": cells(1)},
        {"table_type": "Register", "size": 7, "key": [index], "data": cells(32, 32)},
        {"table_type": "Counter", "size": 64, "key": [index]},
    ]
    made = declared({"tables": tables})
    assert (made.match_tables, made.match_entries) == (2, 14)
    assert (made.exact_key_bits, made.ternary_key_bits) == (10 * 41, 4 * 24)
    assert (made.registers, made.register_cells, made.register_bits) == (2, 107, 100 + 7 * 64)
    assert made.counters == 1


def test_farreach_declares_what_its_documentation_says() -> None:
    """docs/kvcache.md §4: slots of 16 x 8 bytes, a sketch of 4 x 65,536, a state of its own."""
    program = P4 / "farreach" / "farreach.p4"
    made = declared(json.loads(translate(program, [program.parent], {}).schema))
    values, sketch = 32768 * 128 * 8, 4 * 65536 * 16
    states = 32768 * (8 + 32 + 32 + 32 + 32 + 16)  # valid seq frequency slot_seq case1 vallen
    assert made.register_bits == values + sketch + states
    assert made.registers == 32 + 4 + 6


def test_nocache_has_no_register() -> None:
    program = P4 / "nocache" / "nocache.p4"
    made = declared(json.loads(translate(program, [program.parent], {}).schema))
    assert (made.registers, made.register_bits, made.counters) == (0, 0, 0)
    assert made.match_tables > 0
