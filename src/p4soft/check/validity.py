"""Warns of values that are written to a header while it may be invalid, and so are lost.

What P4 leaves undefined, the Tofino compiler may leave out. A program that writes to a field before
`setValid()` seems to work here, and sends something else on the ASIC.

For every place in the program the analysis knows which combinations of headers may be valid there
(along the ways through the parser, `isValid()`, `setValid()`), but not which values fields have. So
it cannot see that a table chooses an action for those packets alone that have the header, and warns
of three things:

- the header is invalid on every path that leads to the write;
- the header becomes valid later, and the field is read or sent without having been written again;
- outside of tables and deparsers, the header is invalid on some path that leads to the write.

Elements of header stacks are left out, and so are the ways of packets that end inside a header.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from p4soft.check import types
from p4soft.check.paths import PathEndedError, Paths
from p4soft.check.symbols import Symbol, VariableSymbol
from p4soft.elaborate import BlockInstance, Pipeline
from p4soft.errors import P4Warning, Position
from p4soft.frontend import syntax

Place = tuple[str | Symbol, ...]


@dataclass(eq=False)
class Write:
    """A field that was written while its header was invalid; one object for equal ones."""

    field: Place
    position: Position
    valid_at: Position | None = None  # where the header has become valid since


# The combinations of valid headers (a bit each) that a packet may have, each with the writes that
# came too early.
Validity = dict[int, frozenset[Write]]

_NONE: frozenset[Write] = frozenset()


def check_validity(pipeline: Pipeline) -> list[P4Warning]:
    """In the order of the source's files and lines."""
    warnings: dict[Position, P4Warning] = {}
    for side in ("ingress", "egress"):
        analysis = _Analysis()
        analysis.follow([pipeline.blocks[f"{side}{part}"] for part in ("_parser", "", "_deparser")])
        for warning in analysis.warnings():
            warnings.setdefault(warning.position, warning)
    return sorted(warnings.values(), key=lambda w: (w.position.file, w.position.line))


class _Analysis(Paths[Validity]):
    def __init__(self) -> None:
        super().__init__()
        self._places: dict[Symbol, Place] = {}  # of parameters: what was passed for them
        self._bits: dict[Place, int] = {}  # of headers
        self._writes: dict[tuple[Place, Position, Position | None], Write] = {}
        self._lost: set[Write] = set()
        # Writes to headers: whether these were valid on some path, and on all of them.
        self._written: dict[Position, tuple[Place, bool, bool]] = {}
        self._choosing = 0  # tables whose actions are being followed, or deparsers

    def follow(self, blocks: list[BlockInstance]) -> None:
        """Parser, control and deparser hand headers and metadata to each other."""
        for block in blocks:
            values = [p.symbol for p in block.declaration.parameters]
            values = [v for v in values if not isinstance(v.type, types.Generic)]
            for symbol, root in zip(values, ("hdr", "md"), strict=False):
                self._places[symbol] = (root,)
        parser, *controls = blocks
        state = self._parser(parser, {0: _NONE})
        for control in controls:
            try:
                ends = [self.apply(control, state)]
            except PathEndedError:
                ends = []
            state = self.merged(ends + self.exited)
            self.exited = []
            self._choosing += 1
        self._lost |= {write for writes in state.values() for write in writes if write.valid_at}

    def warnings(self) -> list[P4Warning]:
        found = []
        for write in sorted(
            self._lost, key=lambda write: (str(write.position), write.valid_at.line)
        ):
            consequence = f"setValid() at {write.valid_at} makes the value undefined"
            found.append(_warning(write.field, write.position, "may be invalid", consequence))
        for position, (field, somewhere, everywhere) in self._written.items():
            if not somewhere:
                reason = "is invalid on every path to here"
                found.append(_warning(field, position, reason, "the value is lost"))
            elif not everywhere:
                found.append(_warning(field, position, "may be invalid", "the value is lost then"))
        return found

    # --- Parsers ----------------------------------------------------------------------------------

    def _parser(self, block: BlockInstance, state: Validity) -> Validity:
        """After accept or reject; loops are followed until nothing new comes of them."""
        declaration = block.declaration
        assert isinstance(declaration, syntax.Parser) and declaration.states is not None
        by_name = {s.name: s for s in declaration.states}
        before = {"start": state}
        waiting = ["start"]
        while waiting:
            name = waiting.pop()
            if name not in by_name:
                continue
            after = before[name]
            for statement in by_name[name].statements:
                after = self.statement(statement, block, after)
            for following in _successors(by_name[name]):
                known = before.get(following)
                merged = after if known is None else self.merged([known, after])
                if merged != known:
                    before[following] = merged
                    waiting.append(following)
        return self.merged([before[end] for end in ("accept", "reject") if end in before])

    # --- Places -----------------------------------------------------------------------------------

    def bind(self, parameter: VariableSymbol, argument: syntax.Expression | None) -> None:
        place = None if argument is None else self._place(argument)
        if place is not None:
            self._places[parameter] = place

    def _place(self, node: syntax.Expression) -> Place | None:
        """Of a variable or a part of it; None: of anything else, elements of stacks among them."""
        if isinstance(node, syntax.Slice):
            return self._place(node.base)
        if isinstance(node, syntax.Name) and isinstance(node.symbol, VariableSymbol):
            return self._known(self._places.get(node.symbol, (node.symbol,)), node)
        if isinstance(node, syntax.Member) and isinstance(node.base.type, types.Composite):
            base = self._place(node.base)
            return None if base is None else self._known((*base, node.name), node)
        return None

    def _known(self, place: Place, node: syntax.Expression) -> Place:
        if _is_header(node.type):
            self._bits.setdefault(place, 1 << len(self._bits))
        return place

    def _one(self, write: Write) -> Write:
        return self._writes.setdefault((write.field, write.position, write.valid_at), write)

    # --- What happens to headers ------------------------------------------------------------------

    def merged(self, states: list[Validity]) -> Validity:
        result: Validity = {}
        for state in states:
            for headers, writes in state.items():
                result[headers] = result.get(headers, _NONE) | writes
        return result

    def primitive(self, call: syntax.Call, block: BlockInstance, state: Validity) -> Validity:
        target = call.target
        if target.kind == "parser":
            for parameter, argument in zip(target.parameters, target.arguments, strict=True):
                self.bind(parameter, argument)
            return self._parser(block.find(target.symbol), state)
        if target.name in ("setValid", "setInvalid"):
            return self._set(self._place(target.base), target.name == "setValid", call, state)
        for parameter, argument in zip(target.parameters, target.arguments, strict=False):
            if parameter.direction not in ("out", "inout") or argument is None:
                continue
            if target.name == "extract":
                state = self._replaced(self._place(argument), state)
            else:
                state = self._write(argument, state)
        return state

    def _set(self, header: Place | None, valid: bool, at: syntax.Node, state: Validity) -> Validity:
        bit = self._bits.get(header or (), 0)

        def after(write: Write) -> Write:
            of_header = write.field[:-1] == header and write.valid_at is None
            return self._one(replace(write, valid_at=at.position)) if of_header else write

        if not valid:
            return self.merged([{h & ~bit: _without(w, header)} for h, w in state.items()])
        return self.merged(
            [{h | bit: w if h & bit else frozenset(map(after, w))} for h, w in state.items()]
        )

    def _replaced(self, header: Place | None, state: Validity) -> Validity:
        """The header is valid, with all its fields."""
        bit = self._bits.get(header or (), 0)
        return self.merged([{h | bit: _without(w, header)} for h, w in state.items()])

    def assignment(self, node: syntax.Assignment, state: Validity) -> Validity:
        if not isinstance(node.target.type, types.Composite):
            return self._write(node.target, state)
        target, source = self._place(node.target), self._place(node.value)
        if target is None:
            return state
        for path in _headers_of(node.target.type):
            self._bits.setdefault((*target, *path), 1 << len(self._bits))
            state = self._replaced((*target, *path), state)
            if source is not None:
                bit = self._bits[(*target, *path)]
                of_source = self._bits.get((*source, *path), 0)
                state = self.merged(
                    [{h if h & of_source else h & ~bit: w} for h, w in state.items()]
                )
        return state

    def variable(self, node: syntax.Variable, state: Validity) -> Validity:
        if not _is_header(node.symbol.type):
            return state
        place = (node.symbol,)
        self._bits.setdefault(place, 1 << len(self._bits))
        if node.initializer is not None:
            return self._replaced(place, state)
        return self._set(place, False, node, state)

    def _write(self, target: syntax.Expression, state: Validity) -> Validity:
        place = self._place(target)
        bit = self._bits.get((place or ())[:-1])
        if place is None or bit is None:
            return state
        _, somewhere, everywhere = self._written.get(target.position, (place, False, True))
        somewhere = somewhere or any(h & bit for h in state)
        everywhere = everywhere and (self._choosing > 0 or all(h & bit for h in state))
        self._written[target.position] = (place, somewhere, everywhere)
        whole = not isinstance(target, syntax.Slice)
        early = frozenset([self._one(Write(place, target.position))])

        def after(writes: frozenset[Write]) -> frozenset[Write]:
            if not writes or not whole:
                return writes
            return frozenset(write for write in writes if write.field != place)

        return {h: after(w) if h & bit else w | early for h, w in state.items()}

    def referenced(
        self, reference: syntax.ActionReference | None, block: BlockInstance, state: Validity
    ) -> Validity:
        self._choosing += 1
        try:
            return super().referenced(reference, block, state)
        finally:
            self._choosing -= 1

    def read(self, node: syntax.Expression, state: Validity) -> None:
        if any(state.values()):
            place = self._place(node)
            self._lost |= {
                write
                for writes in state.values()
                for write in writes
                if write.valid_at and write.field == place
            }

    def branch(
        self, condition: syntax.Expression, block: BlockInstance, state: Validity
    ) -> tuple[Validity | None, Validity | None]:
        if isinstance(condition, syntax.Unary) and condition.operator == "!":
            then, otherwise = self.branch(condition.operand, block, state)
            return otherwise, then
        if isinstance(condition, syntax.Binary) and condition.operator in ("&&", "||"):
            return self._logical(condition, block, state)
        if isinstance(condition, syntax.Call) and condition.target.name == "isValid":
            bit = self._bits.get(self._place(condition.target.base) or ())
            if bit is not None:
                valid = {h: w for h, w in state.items() if h & bit}
                invalid = {h: w for h, w in state.items() if not h & bit}
                return valid or None, invalid or None
        return super().branch(condition, block, state)

    def _logical(
        self, condition: syntax.Binary, block: BlockInstance, state: Validity
    ) -> tuple[Validity | None, Validity | None]:
        left, right = condition.left, condition.right
        outcomes = list(self.branch(left, block, state))
        decided, undecided = (1, 0) if condition.operator == "&&" else (0, 1)
        going_on = outcomes[undecided]
        if going_on is None:
            return outcomes[0], outcomes[1]
        after = list(self.branch(right, block, going_on))
        ends = [end for end in (outcomes[decided], after[decided]) if end is not None]
        after[decided] = self.merged(ends) if ends else None
        return after[0], after[1]


def _is_header(type_: types.Type | None) -> bool:
    return isinstance(type_, types.Composite) and type_.is_header


def _headers_of(type_: types.Composite) -> list[Place]:
    """The paths of all headers in a header or struct; () is that of the header itself."""
    if type_.is_header:
        return [()]
    return [
        (name, *path)
        for name, field in type_.fields.items()
        if isinstance(field, types.Composite)
        for path in _headers_of(field)
    ]


def _without(writes: frozenset[Write], header: Place | None) -> frozenset[Write]:
    return frozenset(write for write in writes if write.field[:-1] != header) if writes else writes


def _successors(state: syntax.ParserState) -> list[str]:
    if isinstance(state.transition, syntax.Select):
        return [case.state for case in state.transition.cases]
    return [state.transition or "reject"]


def _warning(field: Place, position: Position, reason: str, consequence: str) -> P4Warning:
    header = _text(field[:-1])
    return P4Warning(
        position,
        f"'{_text(field)}' is written, but '{header}' {reason}, and {consequence}; write it after "
        f"setValid(), or inside `if ({header}.isValid())`",
    )


def _text(place: Place) -> str:
    return ".".join(part if isinstance(part, str) else part.name for part in place)
