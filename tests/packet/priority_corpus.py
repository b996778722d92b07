"""What the fuzz corpus of Priority is made from (fuzz_corpus): frames for every queue, and of every
outcome.
"""

from __future__ import annotations

from .frames import TCP, mac
from .nocache_tables import CLIENT, SERVER0, SERVER1
from .priority_switch import HOMA, PrioritySwitch, marked
from .targets import Target


def record(target: Target) -> None:
    switch = PrioritySwitch(target)
    for dscp in (*HOMA, 63):
        switch.send(marked(dscp))
    switch.send(marked(9, to=SERVER1, ecn=3).change(options=bytes(40)))
    switch.send(marked(17).change(protocol=TCP, flags_and_fragment=0x00B9, payload=bytes(40)))
    switch.send(marked(56).change(dst_ip="198.18.7.7"))
    target.send(CLIENT.port, mac(SERVER0.mac) + mac(CLIENT.mac) + b"\x08\x06" + bytes(46))
    malformed = bytearray(bytes(marked(8)))
    malformed[14] = 0x44
    target.send(CLIENT.port, bytes(malformed))
