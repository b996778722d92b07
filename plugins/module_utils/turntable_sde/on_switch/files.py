"""Reads files of the switch for the controller."""

import base64
import zlib


def run(paths):
    contents = {}
    for path in paths:
        with open(path, "rb") as file:
            contents[path] = base64.b64encode(zlib.compress(file.read())).decode()
    return contents
