"""Where in the packet the parser of ingress reads: whether it takes the bits of port metadata."""

from __future__ import annotations

from p4soft.check import types
from p4soft.elaborate import BlockInstance
from p4soft.frontend import syntax
from p4soft.tree import walk

UNPACK = "port_metadata_unpack"
_FIRST, _END = 64, 128  # bits: behind ingress_intrinsic_metadata_t


def reads_port_metadata(parser: BlockInstance) -> bool:
    """Whether some path extracts the bits there, or looks at them, rather than pass over them."""
    positions = _Positions()
    positions.ends(parser, 0)
    return positions.found


class _Positions:
    """Follows all paths as far as the end of the port metadata."""

    def __init__(self) -> None:
        self.found = False

    def ends(self, parser: BlockInstance, start: int) -> set[int]:
        """How many bits may be taken off the packet when a parser that begins at `start` accepts,
        where they are fewer than those to the end of the port metadata.
        """
        assert isinstance(parser.declaration, syntax.Parser)
        states = {state.name: state for state in parser.declaration.states or []}
        reached = {("start", start)}
        waiting = [*reached]
        while waiting:
            name, position = waiting.pop()
            if name not in states:
                continue
            ends = self._state(states[name], parser, position)
            following = {(state, end) for state in _successors(states[name]) for end in ends}
            waiting += following - reached
            reached |= following
        return {position for name, position in reached if name == "accept"}

    def _state(self, state: syntax.ParserState, parser: BlockInstance, position: int) -> set[int]:
        positions = {position}
        for node in walk([*state.statements, state.transition]):
            if isinstance(node, syntax.Call) and node.target is not None:
                ends = {end for each in positions for end in self._call(node, parser, each)}
                positions = {end for end in ends if end < _END}
        return positions

    def _call(self, call: syntax.Call, parser: BlockInstance, position: int) -> set[int]:
        target = call.target
        if target.kind == "parser":
            return self.ends(parser.find(target.symbol), position)
        if target.kind == "extern_function" and target.name == UNPACK:
            return {position + _END - _FIRST}
        if target.base is None or str(target.base.type) != "packet_in":
            return {position}
        if target.name == "advance":
            amount = target.arguments[0].value
            return set() if amount is None else {position + amount}
        read = target.arguments[0].type if target.name == "extract" else call.type
        end = position + (types.width_of(read) or 0)
        self.found = self.found or end > _FIRST
        return {end if target.name == "extract" else position}


def _successors(state: syntax.ParserState) -> list[str]:
    """Without those that are only for resubmitted packets, which have other data in that place."""
    transition = state.transition
    if not isinstance(transition, syntax.Select):
        return [transition or "reject"]
    subjects = transition.subjects
    of_flag = isinstance(subjects[0], syntax.Member) and subjects[0].name == "resubmit_flag"
    return [
        case.state
        for case in transition.cases
        if not (of_flag and [key.value for key in case.keys] == [1])
    ]
