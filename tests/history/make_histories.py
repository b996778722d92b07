"""Random short histories of one key, a JSON object per line, for porcupine to judge.

    python3 make_histories.py 400 | (cd porcupine && go run .) > judged_by_porcupine.ndjson

A register whose operations take effect at a random instant of their interval; in half of the
histories one read is then made to return another record.
"""

from __future__ import annotations

import json
import random
import sys


def history(draw: random.Random) -> dict:
    planned = []
    for version in range(1, draw.randint(4, 9)):
        begin = draw.randrange(40)
        end = begin + draw.randrange(1, 25)
        kind = draw.choice(["put", "put", "delete", "get", "get", "get"])
        planned.append((draw.uniform(begin, end), version, kind, begin, end))
    record, number, records, operations = 0, 0, {0: 0}, []
    for _, version, kind, begin, end in sorted(planned):
        operation = {"type": kind, "begin": begin, "end": end}
        if kind == "get":
            operation["number"] = number
        else:
            number += 1
            record = version if kind == "put" else None
            records[number] = record
            operation["number"] = number
            if kind == "put" and draw.random() < 0.25:
                del operation["end"]
                operation["number"] = 0
        if record is not None:
            operation["version"] = version if kind == "put" else record
        operations.append(operation)
    reads = [operation for operation in operations if operation["type"] == "get"]
    if reads and draw.random() < 0.5:
        read = draw.choice(reads)
        read["number"] = draw.choice(list(records))
        read.pop("version", None)
        if records[read["number"]] is not None:
            read["version"] = records[read["number"]]
    draw.shuffle(operations)
    return {"operations": operations}


def main() -> None:
    draw = random.Random(2017)
    for _ in range(int(sys.argv[1])):
        print(json.dumps(history(draw)))


if __name__ == "__main__":
    main()
