"""A client of a switch that speaks BF Runtime: tables by name, values as integers and texts.

    with Client("127.0.0.1:50052", client_id=20, descriptors=path) as switch:
        switch.bind("forwarder")
        switch.write([Update("upsert", "$PORT", {"$DEV_PORT": 132}, {"$SPEED": "BF_SPEED_100G"})])
        for entry in switch.read("$PORT"):
            print(entry.key, entry.data["$PORT_UP"])

For what is done to a switch once, as its ports are set up. While experiments run, bfrt-driver owns
the switch (docs/bfrt-driver.md). No system is known here.
"""

from turntable_bfrt.client import ALL_PIPES, Client, Entry, Update
from turntable_bfrt.errors import BfrtError, SchemaError

__all__ = ["ALL_PIPES", "BfrtError", "Client", "Entry", "SchemaError", "Update"]
