"""The externs of TNA that p4soft translates: how each is declared, and what its methods become.

To add one, write a class (base.Extern) and add it to `EXTERNS` under the extern's name. A type that
is not there is an error where it is instantiated.
"""

from __future__ import annotations

from p4soft.emit.externs.base import Extern
from p4soft.emit.externs.checksums import Checksum
from p4soft.emit.externs.counters import Counter, DirectCounter
from p4soft.emit.externs.deparsers import Digest, Mirror, Resubmit
from p4soft.emit.externs.filters import DirectFilter, Filter
from p4soft.emit.externs.hashes import Hash, Polynomial
from p4soft.emit.externs.meters import DirectMeter, Meter, Random
from p4soft.emit.externs.packets import PacketIn, PacketOut
from p4soft.emit.externs.profiles import ActionProfile, ActionSelector
from p4soft.emit.externs.registers import (
    DirectRegister,
    DirectRegisterAction,
    Register,
    RegisterAction,
    RegisterParam,
)
from p4soft.errors import Position, unsupported

EXTERNS: dict[str, Extern] = {
    "Hash": Hash(),
    "CRCPolynomial": Polynomial(),
    "Checksum": Checksum(),
    "Counter": Counter(),
    "DirectCounter": DirectCounter(),
    "Register": Register(),
    "RegisterAction": RegisterAction(),
    "DirectRegister": DirectRegister(),
    "DirectRegisterAction": DirectRegisterAction(),
    "RegisterParam": RegisterParam(),
    "Meter": Meter(),
    "DirectMeter": DirectMeter(),
    "Lpf": Filter(),
    "DirectLpf": DirectFilter(),
    "Wred": Filter(),
    "DirectWred": DirectFilter(),
    "ActionProfile": ActionProfile(),
    "ActionSelector": ActionSelector(),
    "Alpm": Extern(),  # nothing: what it finds is what a table without it would
    "Atcam": Extern(),
    "Random": Random(),
    "Mirror": Mirror(),
    "Resubmit": Resubmit(),
    "Digest": Digest(),
    "packet_in": PacketIn(),
    "packet_out": PacketOut(),
}
_INTERNAL = ("packet_in", "packet_out")


def handler_of(name: str, position: Position) -> Extern:
    if name not in EXTERNS:
        known = ", ".join(extern for extern in EXTERNS if extern not in _INTERNAL)
        raise unsupported(position, f"the extern {name}", known)
    return EXTERNS[name]
