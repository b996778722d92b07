"""finsy sets a program by its P4 source."""

import asyncio
from pathlib import Path

import finsy as fy
from steps import arguments, step


async def main():
    address, election_id, p4info, _ = arguments()
    source = Path(p4info).with_name("source.p4")
    options = fy.SwitchOptions(p4info=Path(p4info), p4blob=source, initial_election_id=election_id)
    async with fy.Switch("switch", address, options) as switch:
        destination = {"hdr.ethernet.dst_addr": "02:00:00:00:00:05"}
        action = fy.P4TableAction("Ingress.send", port=3)
        entry = fy.P4TableEntry(
            "Ingress.forward", match=fy.P4TableMatch(destination), action=action
        )
        await switch.write([+entry])
        step("set")


asyncio.run(main())
