"""p4runtime-shell sends a packet out, and takes one in."""

import p4runtime_sh.shell as sh
from steps import arguments, run, step

TIMEOUT_S = 20


def session():
    address, election_id, _, _ = arguments()
    sh.setup(device_id=1, grpc_addr=address, election_id=(0, election_id), verbose=False)
    received = sh.PacketIn()
    sh.PacketOut(payload=bytes(range(60)), egress_port="3", padding="0").send()
    step("packet out", payload=bytes(range(60)).hex())
    packet = received.packet_in_queue.get(timeout=TIMEOUT_S).packet
    headers = {each.preamble.name: each for each in sh.context.p4info.controller_packet_metadata}
    names = {each.id: each.name for each in headers["packet_in"].metadata}
    step(
        "packet in",
        payload=packet.payload.hex(),
        **{names[each.metadata_id]: each.value.hex() for each in packet.metadata},
    )


run(session)
