"""A packet passes a table once: on Tofino it lies in one place of the pipeline."""

from __future__ import annotations

from contextlib import suppress

from p4soft.check.paths import PathEndedError, Paths
from p4soft.elaborate import BlockInstance, Pipeline, TableInstance
from p4soft.errors import P4Error, Position
from p4soft.frontend import syntax

# The tables that a packet may have passed so far, and where.
Passed = dict[TableInstance, Position]


def check_lookups(pipeline: Pipeline) -> None:
    """Raises P4Error where a packet may pass a table again."""
    for name in ("ingress", "egress"):
        with suppress(PathEndedError):  # every path exits
            _Lookups().apply(pipeline.blocks[name], {})


class _Lookups(Paths[Passed]):
    def merged(self, states: list[Passed]) -> Passed:
        return {table: at for state in states for table, at in state.items()}

    def primitive(self, call: syntax.Call, block: BlockInstance, state: Passed) -> Passed:
        return state

    def lookup(
        self, table: syntax.Table, at: syntax.Expression, block: BlockInstance, state: Passed
    ) -> Passed:
        instance = block.table(table)
        if instance in state:
            raise P4Error(
                at.position,
                f"a packet can pass table '{table.name}' here and at "
                f"{state[instance].line}:{state[instance].column}; on Tofino it passes a table "
                "once: make the two exclusive, or use two tables",
            )
        return {**state, instance: at.position}
