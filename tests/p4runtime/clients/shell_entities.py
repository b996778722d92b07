"""p4runtime-shell writes and reads every kind of entity that it knows. Value sets and registers, of
which it has no class, go by its `Write`.
"""

import re
import tempfile
from pathlib import Path

import p4runtime_sh.shell as sh
from p4runtime_sh.p4runtime import P4RuntimeWriteException, SSLOptions
from steps import arguments, expect, run, step

MAC = "02:00:00:00:00:05"
TIMEOUT_S = 20
IDLE_TIMEOUT_NS = 100_000_001


def setup():
    address, election_id, p4info, pem = arguments()
    # No device config: the program that runs, with empty tables.
    nothing = Path(tempfile.mkdtemp(), "nothing")
    nothing.write_bytes(b"")
    sh.setup(
        device_id=1,
        grpc_addr=address,
        election_id=(0, election_id),
        config=sh.FwdPipeConfig(p4info, str(nothing)),
        ssl_options=SSLOptions(False, *pem) if pem else None,
        verbose=False,
    )
    expect(sh.APIVersion(), "1.4.1")


def entry(table, action=None, priority=0, match=None, **parameters):
    made = sh.TableEntry(f"Ingress.{table}")
    if action is not None:
        made = made(action=f"Ingress.{action}")
        made.action.set(**parameters)
    for name, value in (match or {}).items():
        made.match[name] = value
    if priority:
        made.priority = priority
    return made


def plain(made):
    """Its text without zeros in front of numbers: the shell sends parameters with them."""
    return re.sub(r"(\\+x00)+(?=\\)", "", str(made))


def tables():
    written = [
        entry("forward", "send", match={"dst_addr": MAC}, port="2"),
        entry("prefixes", "mark", match={"dst_addr": "02:00:00:00:00:00/8"}, value="7"),
        entry(
            "ranges",
            "mark",
            priority=5,
            match={"ether_type": "0x0700..0x0900", "src_addr": "0x1&&&0x3"},
            value="8",
        ),
        entry("ranges", "mark", priority=9, match={"src_addr": "0x1&&&0x1"}, value="0x99"),
    ]
    for made in written:
        made.insert()
    for made in written:
        found = [plain(each) for each in sh.TableEntry(made.name).read()]
        if plain(made) not in found:
            raise AssertionError(f"{made} is not among {found}")
    step("tables")
    try:
        written[0].insert()
        raise AssertionError("it was there already")
    except P4RuntimeWriteException as error:
        expect(error.errors[0][1].canonical_code, 6)  # ALREADY_EXISTS
    written[0].action["port"] = "3"
    written[0].modify()
    step("modified")
    for made in written[1:]:
        made.delete()
    counted = sh.DirectCounterEntry("Ingress.forwarded")
    counted.table_entry.match["dst_addr"] = MAC
    (found,) = counted.read()
    step("direct counter", packets=found.packet_count)
    metered = sh.DirectMeterEntry("Ingress.allowance")
    policed = entry("policed", "police", match={"dst_addr": MAC}, value="1")
    policed.insert()
    metered.table_entry.match["dst_addr"] = MAC
    metered.cir, metered.cburst, metered.pir, metered.pburst = 10, 20, 30, 40
    metered.modify()
    (found,) = metered.read()
    expect((found.cir, found.cburst, found.pir, found.pburst), (10, 20, 30, 40))
    policed.delete()


def profiles():
    for number, colour in ((1, "0x10"), (2, "0x20")):
        member = sh.ActionProfileMember("Ingress.members")(member_id=number, action="Ingress.paint")
        member.action["colour"] = colour
        member.insert()
    group = sh.ActionProfileGroup("Ingress.members")(group_id=5)
    group.max_size = 4
    group.add(1, weight=1).add(2, weight=3, watch_port=b"\x02")
    group.insert()
    (found,) = sh.ActionProfileGroup("Ingress.members").read()
    expect(str(found), str(group))
    expect(len(list(sh.ActionProfileMember("Ingress.members").read())), 2)
    painted = entry("painted", match={"dst_addr": MAC})
    painted.group_id = 5
    painted.insert()
    step("group")
    painted.delete()
    group.delete()
    sh.ActionProfileMember("Ingress.members").read(lambda member: member.delete())
    once = entry("painted", match={"dst_addr": MAC})
    for colour, weight in (("0x30", 1), ("0x40", 3)):
        action = sh.Action("Ingress.paint")
        action["colour"] = colour
        once.oneshot.add(action, weight=weight)
    once.insert()
    (found,) = sh.TableEntry("Ingress.painted").read()
    expect(str(found), str(once))
    step("one-shot set")
    once.delete()


def cells():
    counter = sh.CounterEntry("Ingress.seen")(index=3)
    counter.packet_count, counter.byte_count = 5, 500
    counter.modify()
    (found,) = sh.CounterEntry("Ingress.seen")(index=3).read()
    expect((found.packet_count, found.byte_count), (5, 500))
    meter = sh.MeterEntry("Ingress.limits")(index=2)
    meter.cir, meter.cburst, meter.pir, meter.pburst = 10, 20, 30, 40
    meter.modify()
    (found,) = sh.MeterEntry("Ingress.limits")(index=2).read()
    expect((found.cir, found.cburst, found.pir, found.pburst), (10, 20, 30, 40))
    value_set = described(sh.context.p4info.value_sets, "unwanted")
    register = described(sh.context.p4info.registers, "hits")
    request = Path(tempfile.mkdtemp(), "request")
    request.write_text(
        f"""
        updates {{
          type: MODIFY
          entity {{ value_set_entry {{
            value_set_id: {value_set.preamble.id}
            members {{ match {{ field_id: 1 exact {{ value: "\\x08\\x06" }} }} }}
          }} }}
        }}
        updates {{
          type: MODIFY
          entity {{ register_entry {{
            register_id: {register.preamble.id}
            index {{ index: 9 }}
            data {{ bitstring: "\\x20" }}
          }} }}
        }}
        """
    )
    sh.Write(str(request))
    step("cells")


def described(objects, alias):
    return next(each for each in objects if each.preamble.alias == alias)


def replication():
    group = sh.MulticastGroupEntry(1)
    group.add(2, 1).add(3, 2)
    group.insert()
    session = sh.CloneSessionEntry(7)
    session.add(3, 1)
    session.insert()
    for made, kind in ((group, sh.MulticastGroupEntry), (session, sh.CloneSessionEntry)):
        (found,) = kind().read()
        expect(str(found), str(made))
    step("replication")
    group.delete()
    session.delete()
    expect(list(sh.MulticastGroupEntry().read()), [])


def digests():
    made = sh.DigestEntry("IngressDeparser.learn")
    made.max_list_size, made.ack_timeout_ns = 1, 10**12
    made.insert()
    lists = sh.DigestList()
    step("digest wanted")
    for _ in range(2):  # the second after an acknowledgement of the first
        told = lists.digest_list_queue.get(timeout=TIMEOUT_S).digest
        (learnt,) = told.data
        mac, port = (member.bitstring.hex() for member in learnt.struct.members)
        step("digest", mac=mac, port=port)
    made.delete()


def idle():
    lists = sh.IdleTimeoutNotification()
    made = sh.TableEntry("Ingress.watched")(action="Ingress.mark")
    made.match["hdr.ethernet.dst_addr"] = MAC
    made.action["value"] = "1"
    made.idle_timeout_ns = IDLE_TIMEOUT_NS
    made.insert()
    told = lists.notification_queue.get(timeout=TIMEOUT_S).idle_timeout_notification
    step("idle", timeouts_ns=[each.idle_timeout_ns for each in told.table_entry])
    made.delete()


def session():
    setup()
    tables()
    profiles()
    cells()
    replication()
    digests()
    idle()
    step("end")


run(session)
