"""What all emitters of one program share, and what an emitter of one block needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from p4soft.check.symbols import Symbol
from p4soft.elaborate import Alias, BlockInstance, Pipeline
from p4soft.emit.naming import UniqueNames
from p4soft.emit.text import Lines
from p4soft.frontend import syntax


@dataclass
class Emission:
    """One program on its way to C++, at one of its pipelines."""

    name: str
    pipeline: Pipeline
    uses_exit: bool
    number: int = 0  # of the pipeline
    first_digest: int = 0  # of the pipeline's, among those of all
    names: UniqueNames = field(default_factory=UniqueNames)
    members: Lines = field(default_factory=Lines)  # data members of the program's class
    functions: Lines = field(default_factory=Lines)  # its member functions
    setup: Lines = field(default_factory=Lines)  # the body of its constructor
    functions_done: set[str] = field(default_factory=set)
    # Of tables with an implementation: names of table, profile and selector, or "".
    attachments: list[tuple[str, str, str]] = field(default_factory=list)
    temporaries: int = 0

    def alias(self, alias: Alias) -> str:
        """The member that keeps both fields the same."""
        return f"alias{self.number or ''}_{self.pipeline.aliases.index(alias)}_"


class BlockState:
    """The place code is written to, and the instance it is written for."""

    def __init__(
        self, emission: Emission, block: BlockInstance | None, gress: str | None = None
    ) -> None:
        """gress: of a function outside of all blocks, ingress or egress; it is emitted for both."""
        self.emission = emission
        self.block = block  # None: a function outside of all blocks
        self.lines = Lines()
        self.action: syntax.Action | None = None  # being emitted
        self.saved_places: dict[syntax.Expression, str] = {}  # l-values that were evaluated before
        self.result = ""  # the variable that `return` hands over; "": nothing
        self.in_register_action = False  # its body is being emitted
        self.in_parser = block is not None and isinstance(block.declaration, syntax.Parser)
        parameters = block.declaration.parameters if block else []
        self.frame_symbols = {parameter.symbol for parameter in parameters}
        self.gress = self._gress_of_block() if gress is None else gress

    def temporary(self, what: str) -> str:
        self.emission.temporaries += 1
        return f"{what}{self.emission.temporaries}_"

    def _gress_of_block(self) -> str:
        """ingress or egress."""
        block = self.block
        while block is not None and block.parent is not None:
            block = block.parent
        blocks = self.emission.pipeline.blocks
        return next((name.partition("_")[0] for name, b in blocks.items() if b is block), "")

    def instance(self, symbol: Symbol) -> Any:
        """The extern or block instance, or constructor argument, that a name stands for here."""
        found = self.block.find(symbol) if self.block else None
        return self.emission.pipeline.global_environment[symbol] if found is None else found
