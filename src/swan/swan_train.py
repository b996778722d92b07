#!/usr/bin/env python3
"""A best-effort job: trains a small neural network for ever, in one thread (docs/swan.md).

    swan-train [--features N] [--hidden N] [--batch N] [--samples N] [--seconds S] [--seed N]

Prints `progress N`, the batches it has trained with, after each of them.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

# Before numpy is imported: its libraries read them then.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

try:
    import numpy
    from sklearn.neural_network import MLPClassifier
except ImportError as error:
    _missing: ImportError | None = error
else:
    _missing = None

CLASSES = 10


def main() -> int:
    options = _options()
    if _missing:
        print(
            f"swan-train: {_missing}; expected scikit-learn for {sys.executable}: "
            f"{sys.executable} -m pip install scikit-learn, or start it with the Python that "
            "`make setup` has prepared",
            file=sys.stderr,
        )
        return 1
    generator = numpy.random.default_rng(options.seed)
    model = MLPClassifier(hidden_layer_sizes=(options.hidden,), random_state=options.seed)
    end = time.monotonic() + options.seconds if options.seconds > 0 else None
    for number, (inputs, labels) in enumerate(_batches(generator, options), start=1):
        model.partial_fit(inputs, labels, classes=range(CLASSES))
        print(f"progress {number}", flush=True)
        if end is not None and time.monotonic() >= end:
            break
    return 0


def _batches(generator: Any, options: argparse.Namespace) -> Iterator[tuple[Any, Any]]:
    """Batches of one data set, again and again: points around a centre for each class."""
    centres = generator.normal(size=(CLASSES, options.features))
    labels = generator.integers(CLASSES, size=options.samples)
    inputs = centres[labels] + generator.normal(size=(options.samples, options.features))
    while True:
        for begin in range(0, options.samples, options.batch):
            yield inputs[begin : begin + options.batch], labels[begin : begin + options.batch]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="swan-train", description="Trains for ever.")
    parser.add_argument("--features", type=_positive, default=512, help="of a sample (512)")
    parser.add_argument("--hidden", type=_positive, default=128, help="neurons (128)")
    parser.add_argument("--batch", type=_positive, default=256, help="samples at a time (256)")
    parser.add_argument("--samples", type=_positive, default=20_000, help="in all (20000)")
    parser.add_argument("--seconds", type=float, default=0, help="ends by itself; 0: it does not")
    parser.add_argument("--seed", type=int, default=1, help="of data and model (1)")
    return parser.parse_args()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
