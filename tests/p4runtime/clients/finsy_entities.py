"""finsy writes and reads every kind of entity."""

import asyncio
from pathlib import Path

import finsy as fy
from finsy.p4entity import P4ValueSetMember
from steps import arguments, expect, step

MAC = "02:00:00:00:00:05"
TIMEOUT_S = 20
IDLE_TIMEOUT_NS = 100_000_001


def options():
    address, election_id, p4info, pem = arguments()
    # No device config: the program that runs, with empty tables.
    made = fy.SwitchOptions(
        p4info=Path(p4info), p4blob=b"", p4force=True, initial_election_id=election_id
    )
    if pem:
        cacert, cert, private_key = map(Path, pem)
        tls = fy.GRPCCredentialsTLS(cacert=cacert, cert=cert, private_key=private_key)
        made = made(channel_credentials=tls)
    return address, made


async def all_of(switch, wanted):
    return [each async for each in switch.read(wanted)]


def field(switch, table, suffix):
    """The name that finsy has for a match field."""
    return next(f.alias for f in switch.p4info.tables[table].match_fields if suffix in f.alias)


def match(switch, table, **values):
    return fy.P4TableMatch({field(switch, table, name): value for name, value in values.items()})


async def tables(switch):
    written = [
        fy.P4TableEntry(
            "forward",
            match=match(switch, "forward", dst_addr=MAC),
            action=fy.P4TableAction("send", port=2),
            metadata=b"mine",
        ),
        fy.P4TableEntry(
            "prefixes",
            match=match(switch, "prefixes", dst_addr="02:00:00:00:00:00/8"),
            action=fy.P4TableAction("mark", value=7),
        ),
        fy.P4TableEntry(
            "ranges",
            priority=5,
            match=match(switch, "ranges", ether_type="0x0700...0x0900", src_addr="0x1/&0x3"),
            action=fy.P4TableAction("mark", value=8),
        ),
        fy.P4TableEntry(
            "ranges",
            priority=9,
            match=match(switch, "ranges", src_addr="0x1/&0x1"),
            action=fy.P4TableAction("mark", value=0x99),
        ),
    ]
    await switch.insert(written)
    for made in written:
        found = [each.encode(switch.p4info) for each in await all_of(switch, made)]
        expect(found, [made.encode(switch.p4info)])
    step("tables")
    try:
        await switch.insert(written[:1])
        raise AssertionError("it was there already")
    except fy.P4ClientError as error:
        expect(error.details[0].canonical_code, fy.GRPCStatusCode.ALREADY_EXISTS)
    written[0].action = fy.P4TableAction("send", port=3)
    await switch.modify(written[:1])
    step("modified")
    await switch.delete(written[1:])
    (counted,) = await all_of(
        switch, fy.P4DirectCounterEntry("forwarded", table_entry=place(switch, "forward"))
    )
    step("direct counter", packets=counted.packet_count)
    policed = place(switch, "policed")
    policed.action = fy.P4TableAction("police", value=1)
    limits = fy.P4MeterConfig(cir=10, cburst=20, pir=30, pburst=40)
    await switch.insert([policed])
    await switch.write(
        [~fy.P4DirectMeterEntry(table_entry=place(switch, "policed"), config=limits)]
    )
    (metered,) = await all_of(switch, fy.P4DirectMeterEntry(table_entry=place(switch, "policed")))
    expect(metered.config, limits)
    await switch.delete([policed])


def place(switch, table):
    return fy.P4TableEntry(table, match=match(switch, table, dst_addr=MAC))


async def profiles(switch):
    members = [
        fy.P4ActionProfileMember(
            "members", member_id=number, action=fy.P4TableAction("paint", colour=colour)
        )
        for number, colour in ((1, 0x10), (2, 0x20))
    ]
    group = fy.P4ActionProfileGroup(
        "members",
        group_id=5,
        max_size=4,
        members=[fy.P4Member(member_id=1, weight=1), fy.P4Member(member_id=2, weight=(3, 2))],
    )
    painted = place(switch, "painted")
    painted.action = fy.P4IndirectAction(group_id=5)
    await switch.insert([*members, group, painted])
    found = await all_of(switch, fy.P4ActionProfileMember("members"))
    expect(sorted(found, key=lambda member: member.member_id), members)
    expect(await all_of(switch, fy.P4ActionProfileGroup("members")), [group])
    step("group")
    await switch.delete([painted, group, *members])
    once = place(switch, "painted")
    once.action = fy.P4IndirectAction(
        [
            1 * fy.P4TableAction("paint", colour=0x30),
            (3, 2) * fy.P4TableAction("paint", colour=0x40),
        ]
    )
    await switch.insert([once])
    (found,) = await all_of(switch, fy.P4TableEntry("painted"))
    expect(found.action, once.action)
    step("one-shot set")
    await switch.delete([once])


async def cells(switch):
    limits = fy.P4MeterConfig(cir=10, cburst=20, pir=30, pburst=40)
    counts = fy.P4CounterData(packet_count=5, byte_count=500)
    await switch.write(
        [
            ~fy.P4CounterEntry("seen", index=3, data=counts),
            ~fy.P4MeterEntry("limits", index=2, config=limits),
            ~fy.P4RegisterEntry("hits", index=9, data=0x20),
            ~fy.P4ValueSetEntry("unwanted", members=[P4ValueSetMember(f1=0x0806)]),
        ]
    )
    (counter,) = await all_of(switch, fy.P4CounterEntry("seen", index=3))
    expect(counter.data, counts)
    (meter,) = await all_of(switch, fy.P4MeterEntry("limits", index=2))
    expect(meter.config, limits)
    (register,) = await all_of(switch, fy.P4RegisterEntry("hits", index=9))
    expect(register.data, 0x20)
    (value_set,) = await all_of(switch, fy.P4ValueSetEntry("unwanted", members=[]))
    expect([dict(each) for each in value_set.members], [{"f1": 0x0806}])
    step("cells")


async def replication(switch):
    group = fy.P4MulticastGroupEntry(1, replicas=[(2, 1), (3, 2)])
    session = fy.P4CloneSessionEntry(7, replicas=[(3, 1)])
    await switch.insert([group, session])
    for made, kind in ((group, fy.P4MulticastGroupEntry), (session, fy.P4CloneSessionEntry)):
        (found,) = await all_of(switch, kind())
        expect(found.encode(switch.p4info), made.encode(switch.p4info))
    step("replication")
    await switch.delete([group, session])
    expect(await all_of(switch, fy.P4MulticastGroupEntry()), [])


async def digests(switch):
    await switch.write([+fy.P4DigestEntry("learn", max_list_size=1, ack_timeout_ns=10**12)])
    lists = switch.read_digests("learn")
    waiting = asyncio.ensure_future(anext(lists))
    await asyncio.sleep(0)  # its queue is open now
    step("digest wanted")
    for last in (False, True):  # the second after an acknowledgement of the first
        told = await asyncio.wait_for(waiting, TIMEOUT_S)
        await switch.write([fy.P4DigestListAck(told.digest_id, told.list_id)])
        waiting = asyncio.ensure_future(anext(lists))
        await asyncio.sleep(0)
        (learnt,) = told.data
        step("digest", mac=f"{learnt['source']:012x}", port=f"{learnt['port']:02x}", last=last)
    waiting.cancel()


async def idle(switch):
    lists = switch.read_idle_timeouts()
    waiting = asyncio.ensure_future(anext(lists))
    await asyncio.sleep(0)  # its queue is open now
    entry = fy.P4TableEntry(
        "watched",
        match=match(switch, "watched", dst_addr=MAC),
        action=fy.P4TableAction("mark", value=1),
        idle_timeout_ns=IDLE_TIMEOUT_NS,
    )
    await switch.write([+entry])
    told = await asyncio.wait_for(waiting, TIMEOUT_S)
    step("idle", timeouts_ns=[each.idle_timeout_ns for each in told])


async def main():
    address, given = options()
    async with fy.Switch("switch", address, given) as switch:
        await tables(switch)
        await profiles(switch)
        await cells(switch)
        await replication(switch)
        await digests(switch)
        await idle(switch)
        await switch.delete_all()
        expect(await all_of(switch, fy.P4TableEntry("forward")), [])
        step("end")


asyncio.run(main())
