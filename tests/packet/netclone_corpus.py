"""What the fuzz corpus of NetClone is made from (fuzz_corpus): a frame of every kind, with servers
in every state.
"""

from __future__ import annotations

from .frames import TCP, Packet
from .netclone_frames import REQUEST, RESPONSE, Header, request
from .netclone_switch import (
    CLIENT,
    HOST0,
    RECIRCULATION,
    SERVERS,
    NetCloneSwitch,
    pairs,
)
from .targets import Target

BUSY = 3  # the server


def record(target: Target) -> None:
    switch = NetCloneSwitch(target)
    switch.settings(racksched=True)
    switch.set_loads({BUSY: 5})
    for group in (*pairs(SERVERS), 99):
        switch.ask(group)
    for copy in (0, 1, 2):
        for table in (0, 1, 2):
            switch.answer(copy, seq=7, clo=copy, tidx=table, load=copy)
    switch.answer(1, port=CLIENT.port, seq=7)  # forged
    clone = request(CLIENT, HOST0, Header(REQUEST, seq=1, grp=1, sid=1, clo=1))
    target.send(RECIRCULATION, bytes(clone))
    target.send(CLIENT.port, bytes(clone.change(payload=bytes(Header(op=2)))))
    target.send(HOST0.port, bytes(request(CLIENT, HOST0, Header(RESPONSE))))
    target.send(CLIENT.port, bytes(Packet(dst_port=2000, payload=bytes(52))))
    target.send(CLIENT.port, bytes(Packet(protocol=TCP, payload=bytes(20))))
