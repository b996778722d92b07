"""A parser of options whose every refusal says what to do."""

from __future__ import annotations

import argparse
from typing import NoReturn


class OptionParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """argparse names what it does not know or misses, and no more."""
        if message.startswith(("unrecognized arguments", "the following arguments")):
            message += f"; {self.prog} --help says what there is"
        super().error(message)
