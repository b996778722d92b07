"""Whether something listens at a port of the switch's loopback."""

from .common import is_open


def run(port):
    return is_open(port)
