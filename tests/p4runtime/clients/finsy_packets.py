"""finsy sends a packet out, and takes one in."""

import asyncio

import finsy as fy
from steps import arguments, step

TIMEOUT_S = 20


async def main():
    address, election_id, _, _ = arguments()
    options = fy.SwitchOptions(initial_election_id=election_id)
    async with fy.Switch("switch", address, options) as switch:
        packets = switch.read_packets()
        waiting = asyncio.ensure_future(anext(packets))
        await asyncio.sleep(0)  # its queue is open now
        await switch.write([fy.P4PacketOut(bytes(range(60)), egress_port=3, padding=0)])
        await asyncio.sleep(0)
        step("packet out", payload=bytes(range(60)).hex())
        packet = await asyncio.wait_for(waiting, TIMEOUT_S)
        facts = {name: f"{value:02x}" for name, value in packet.metadata.items()}
        step("packet in", payload=packet.payload.hex(), **facts)


asyncio.run(main())
