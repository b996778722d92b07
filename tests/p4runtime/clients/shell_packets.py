"""p4runtime-shell sends a packet out, and takes one in."""

import os

import p4runtime_sh.shell as sh
from steps import arguments, step

TIMEOUT_S = 20

address, election_id, _, _ = arguments()
sh.setup(device_id=1, grpc_addr=address, election_id=(0, election_id), verbose=False)
received = sh.PacketIn()
sh.PacketOut(payload=bytes(range(60)), egress_port="3", padding="0").send()
step("packet out", payload=bytes(range(60)).hex())
packet = received.packet_in_queue.get(timeout=TIMEOUT_S).packet
names = {each.id: name for name, each in received.md_info_list.items()}
step(
    "packet in",
    payload=packet.payload.hex(),
    **{names[each.metadata_id]: each.value.hex() for each in packet.metadata},
)
os._exit(0)  # threads of the client wait for ever
