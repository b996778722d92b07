"""A switch that runs a program by the interpreter: frames in, frames out."""

from __future__ import annotations

from contextlib import suppress

from . import hashing, tree
from .interpreter import Exited, Interpreter, State

Frame = tuple[int, bytes]  # port, bytes
NO_PORT = 511
MIRROR_PORT = 9  # of every mirror session
RECIRCULATION_PORT = 68  # of pipe 0
PIPE_PORTS = 128
_TYPES = ("drop_ctl", "mirror_type", "resubmit_type", "digest_type")
_FOR_DEPARSER = [f"ig_dprsr_md.{name}" for name in _TYPES]
# Bits of parser_err, tna.p4; the last is that of `verify`, as docs/p4soft.md says.
_NO_MATCH, _PARTIAL_HEADER, _NOT_VERIFIED = 0x1, 0x2, 0x1000


class ModelSwitch:
    def __init__(self, program: tree.Program) -> None:
        self.program = program
        self.state = State.of(program)
        self.digests: list[dict[str, int]] = []  # fields of each, in order

    def send(self, port: int, frame: bytes, now_s: int) -> list[Frame]:
        """What recirculates comes in again when all else has left."""
        self.now_s = now_s
        left: list[Frame] = []
        arrived = [(port, frame)]
        while arrived:
            sent = self._forward(*arrived.pop(0))
            arrived += [each for each in sent if each[0] == RECIRCULATION_PORT]
            left += [each for each in sent if each[0] != RECIRCULATION_PORT]
        return left

    def _of_pipe(self, port: int) -> tree.Program:
        """What the pipe of a port runs."""
        second = self.program.second
        return second if second is not None and port // PIPE_PORTS % 2 else self.program

    def _forward(self, port: int, frame: bytes) -> list[Frame]:
        """Mirror copies come before the frame."""
        left: list[Frame] = []
        passed = self._ingress(port, frame, left)
        if passed is not None and passed.is_resubmitted():
            passed = self._ingress(port, frame, left, again=passed.resubmit_data())
        if passed is None:
            return left
        cells = passed.machine.cells
        if cells["ig_dprsr_md.drop_ctl"] & 1:
            return left
        deparsed = passed.deparse()
        for to, rid in self._destinations(cells):
            if cells["ig_tm_md.bypass_egress"]:
                left.append((to, deparsed))
            else:
                left += self._egress(to, deparsed, rid)
        return left

    def _destinations(self, cells: dict[str, int]) -> list[tuple[int, int]]:
        """Ports with replication ids: of the multicast group's copies, and of the frame itself."""
        nodes = self.program.groups.get(cells["ig_tm_md.mcast_grp_a"], [])
        copies = [(port, node.rid) for node in nodes for port in node.ports]
        to = cells["ig_tm_md.ucast_egress_port"]
        return copies if to == NO_PORT else [*copies, (to, 0)]

    def _ingress(
        self, port: int, frame: bytes, left: list[Frame], *, again: int | None = None
    ) -> _Pass | None:
        """None if the parser dropped the frame. again: a resubmitted packet's data."""
        ingress = self._of_pipe(port).ingress
        passed = _Pass(ingress, self.state, frame, self.now_s)
        cells = passed.machine.cells
        cells["ig_intr_md.resubmit_flag"] = int(again is not None)
        resubmit = ingress.resubmit
        if again is not None and resubmit is not None and resubmit.header is not None:
            passed.machine.set_header_bits(resubmit.place, resubmit.header, again)
        cells["ig_intr_md.ingress_port"] = port
        if again is None and ingress.port_metadata is not None:
            cells |= _port_metadata(ingress.port_metadata, port)
        error = passed.parse()
        if error == _NO_MATCH or (error and not ingress.reads_parser_error):
            return None
        cells["ig_prsr_md.parser_err"] = error
        cells |= {"ig_tm_md.ucast_egress_port": NO_PORT, "ig_tm_md.bypass_egress": 0}
        cells["ig_tm_md.mcast_grp_a"] = 0
        cells |= dict.fromkeys(_FOR_DEPARSER, 0)
        passed.control()
        self.digests += passed.digests()
        header = passed.mirror_header()
        if header is not None:
            left += self._egress(MIRROR_PORT, header + frame)
        return passed

    def _egress(self, port: int, frame: bytes, rid: int = 0) -> list[Frame]:
        egress = self._of_pipe(port).egress
        if egress is None:
            return [(port, frame)]
        passed = _Pass(egress, self.state, frame, self.now_s)
        error = passed.parse()
        cells = passed.machine.cells
        cells["eg_intr_md.egress_port"] = port
        cells["eg_intr_md.egress_rid"] = rid
        cells["eg_intr_md.pkt_length"] = len(frame) + 4  # with the check sequence
        cells["eg_prsr_md.parser_err"] = error
        cells |= {"eg_dprsr_md.drop_ctl": 0, "eg_dprsr_md.mirror_type": 0}
        passed.control()
        header = passed.mirror_header()
        frame = passed.deparse()
        left = [] if cells["eg_dprsr_md.drop_ctl"] & 1 else [(port, frame)]
        if header is not None:
            left += self._egress(MIRROR_PORT, header + frame)
        return left


def _port_metadata(metadata: tree.PortMetadata, port: int) -> dict[str, int]:
    if port not in metadata.by_port:
        return {}
    pairs = zip(metadata.fields, metadata.by_port[port], strict=True)
    return {f"{metadata.place}.{each.name}": value for each, value in pairs}


class _Pass:
    """Of one frame through one block."""

    def __init__(self, block: tree.Block, state: State, frame: bytes, now_s: int) -> None:
        self.block = block
        self.machine = Interpreter(block, state, len(frame), now_s)
        self.rest = frame
        self.residue: tuple[tree.Place, bytes] | None = None  # where to, and what was left then

    # --- Parser -------------------------------------------------------------------------------

    def parse(self) -> int:
        """Bits of parser_err."""
        error = 0
        try:
            self._run_states(self.block.states)
        except _EndOfPacketError:
            error = _PARTIAL_HEADER
        except _NoMatchError:
            error = _NO_MATCH
        except _NotVerifiedError:
            error = _NOT_VERIFIED
        except _RejectedError:
            pass
        if self.residue is not None:
            target, behind = self.residue
            taken = behind[: len(behind) - len(self.rest)]
            self.machine.store(target, hashing.sum_less(self.machine.sum, taken))
        return error

    def _run_states(self, all_states: list[tree.State]) -> None:
        """Until one accepts; a subparser that does not ends the whole parser."""
        states = {state.name: state for state in all_states}
        name = "start"
        while name != "accept":
            if name == "reject":
                raise _RejectedError
            for statement in states[name].body:
                self._parser_statement(statement, self.machine.filled)
            name = self._next(states[name])

    def _parser_statement(self, statement: tree.Statement, filled: dict[str, int]) -> None:
        match statement:
            case tree.Extract():
                place = statement.header
                if statement.stack is not None:  # whether it is full comes before what is left
                    if filled[statement.stack.name] == statement.stack.size:
                        raise _NoMatchError
                    place = f"{statement.stack.name}[{filled[statement.stack.name]}]"
                bits = self._look(statement.type.width)
                if statement.stack is not None:
                    filled[statement.stack.name] += 1
                self.rest = self.rest[statement.type.width // 8 :]
                self.machine.set_header_bits(place, statement.type, bits)
            case tree.ExtractOptions():
                self._extract_options(statement)
            case tree.Require():
                if not self.machine.value(statement.condition):
                    raise _NotVerifiedError
            case tree.Subparser():
                self._run_states(statement.states)
            case tree.Residue():
                self.residue = statement.target, self.rest
            case tree.Advance():
                self._look(statement.bits)
                self.rest = self.rest[statement.bits // 8 :]
            case tree.Assign(value=tree.Lookahead() as ahead):
                assert isinstance(ahead.type, tree.Bits)
                self.machine.store(statement.target, self._look(ahead.type.width))
            case _:
                self.machine.statement(statement)

    def _extract_options(self, statement: tree.ExtractOptions) -> None:
        """All of it or nothing."""
        header, count = statement.type, self.machine.value(statement.count)
        fixed = header.width // 8
        if 8 * count > tree.OPTIONS_BITS or len(self.rest) < fixed + count:
            raise _EndOfPacketError
        self.machine.set_header_bits(statement.header, header, self._look(header.width))
        taken = self.rest[fixed : fixed + count]
        self.machine.cells[f"{statement.header}.{header.options}"] = taken
        self.rest = self.rest[fixed + count :]

    def _look(self, bits: int) -> int:
        if len(self.rest) * 8 < bits:
            raise _EndOfPacketError
        return int.from_bytes(self.rest[: bits // 8], "big")

    def _next(self, state: tree.State) -> str:
        if not state.subjects:
            return state.cases[0].state
        values = [self.machine.value(subject) for subject in state.subjects]
        for case in state.cases:
            if case.value_set is not None:
                members = case.value_set.members
                if any((values[0] ^ each.first) & each.second == 0 for each in members):
                    return case.state
                continue
            pairs = zip(case.keys, values, strict=False)
            if all(_is_in(key, value) for key, value in pairs):
                return case.state
        raise _NoMatchError

    # --- Control and deparser -----------------------------------------------------------------

    def control(self) -> None:
        with suppress(Exited):
            self.machine.call(self.block.control, [])

    def is_resubmitted(self) -> bool:
        resubmit, cells = self.block.resubmit, self.machine.cells
        return (
            resubmit is not None
            and cells["ig_dprsr_md.resubmit_type"] == resubmit.type_number
            and not cells["ig_dprsr_md.drop_ctl"] & 1
        )

    def resubmit_data(self) -> int:
        assert self.block.resubmit is not None
        return self.machine.concatenated(list(self.block.resubmit.values))[0]

    def mirror_header(self) -> bytes | None:
        mirror, cells = self.block.mirror, self.machine.cells
        wanted = f"{self.block.gress}_dprsr_md.mirror_type"
        if mirror is None or cells[wanted] != mirror.type_number:
            return None
        value, bits = self.machine.concatenated(list(mirror.values))
        return value.to_bytes(bits // 8, "big")

    def digests(self) -> list[dict[str, int]]:
        """One or none."""
        digest, cells = self.block.digest, self.machine.cells
        if digest is None or cells["ig_dprsr_md.digest_type"] != digest.type_number:
            return []
        values = [int(self.machine.value(value)) for value in digest.values]
        return [dict(zip(digest.fields, values, strict=True))]

    def deparse(self) -> bytes:
        for checksum in self.block.checksums:
            value, bits = self.machine.concatenated([self._summed(e) for e in checksum.data])
            data = value.to_bytes(bits // 8, "big")
            self.machine.cells[checksum.target] = hashing.internet_checksum(
                data, zeros_as_ones=checksum.zeros_as_ones
            )
        places = self.block.header_places()
        out = b""
        for emitted in self.block.emitted or ["hdr"]:
            for place, header in places:
                within = place == emitted or place.startswith((f"{emitted}.", f"{emitted}["))
                if within and self.machine.cells[f"{place}.$valid"]:
                    bits = self.machine.header_bits(place, header)
                    out += bits.to_bytes(header.width // 8, "big")
                    if header.options:
                        out += self.machine.cells[f"{place}.{header.options}"]
        return out + self.rest

    def _summed(self, place: tree.Place) -> tree.Expression:
        """A field of an invalid header counts as zero."""
        header = place.name.rpartition(".")[0]
        valid = self.machine.cells.get(f"{header}.$valid", True)
        return place if valid else tree.Literal(place.type, 0)


class _NoMatchError(Exception):
    """No case of a select is for the packet; or a stack is full."""


class _NotVerifiedError(Exception):
    """A `verify` did not hold."""


class _RejectedError(Exception):
    """A state led to `reject`."""


class _EndOfPacketError(Exception):
    """The packet ended inside what the parser wanted of it."""


def _is_in(key: tuple[str, int, int], value: int) -> bool:
    kind, first, second = key
    if kind == "any":
        return True
    if kind == "mask":
        return (value ^ first) & second == 0
    return first <= value <= second if kind == "range" else value == first
