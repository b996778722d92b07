"""Where the command finds experiments, playbooks, results and Ansible."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable.systems.swan import flags
from turntable_core.errors import TurntableError
from turntable_core.spec import choose_profile, load_experiment

REPOSITORY = Path(__file__).resolve().parents[5]
RESULTS = REPOSITORY / "results"
SENSITIVITY = "sensitivity"
_INVENTORY = REPOSITORY / "inventories" / "embedded-hosts"


@dataclass(frozen=True)
class Experiment:
    """A file of experiments/swan, and its playbook."""

    name: str  # sensitivity

    @property
    def file(self) -> Path:
        return REPOSITORY / "experiments" / "swan" / f"{self.name}.yml"

    @property
    def playbook(self) -> Path:
        return REPOSITORY / "playbooks" / "swan" / f"{self.name}.yml"

    def check(self) -> None:
        have = sorted(file.stem for file in self.file.parent.glob("*.yml"))
        known = [name for name in have if name != "defaults"]
        if self.name not in known:
            raise TurntableError(
                f"{self.file}: there is no such experiment; expected one of {', '.join(known)}"
            )

    @property
    def id(self) -> str:
        """The name of its directory in results/."""
        return load_experiment(self.file).id

    def factors(self, profile: str) -> set[str]:
        """Parameters of which a run may have several levels."""
        return set(choose_profile(load_experiment(self.file), profile).factors)

    def defaults(self, profile: str) -> dict[str, str]:
        """Flag -> its text at this profile; what depends on a factor is left out."""
        scale = choose_profile(load_experiment(self.file), profile)
        plain = {n: [v] for n, v in scale.constants.items() if not isinstance(v, Mapping)}
        return flags.of_parameters(plain | dict(scale.factors), scale.rounds)


def of_id(experiment: str) -> Experiment:
    """swan_sensitivity -> sensitivity."""
    return Experiment(experiment.removeprefix("swan_"))


def inventory(text: str, directory: Path | None = None) -> str:
    """As ansible-playbook takes it from the checkout: of a path an absolute one, below the
    directory (default: where the command is called) if it is not; a list of hosts has a comma.
    """
    return text if "," in text else str(((directory or Path.cwd()) / text).absolute())


def is_inventory(text: str) -> bool:
    return "," in text or Path(text).exists()


def inventories(texts: Sequence[str]) -> list[str]:
    """Raises TurntableError for what is not there: Ansible would go on without hosts."""
    found = [inventory(text) for text in texts] or [str(_INVENTORY)]
    for each in found:
        if not is_inventory(each):
            raise TurntableError(
                f"{each}: no such inventory; expected a directory or file as in "
                f"{_INVENTORY.parent}. Nothing was run"
            )
    return found


def ansible(inventories_: Sequence[str], playbook: Path, extra: Sequence[str]) -> list[str]:
    """extra: values of -e; verbosity flags pass as they are."""
    program = Path(sys.executable).with_name("ansible-playbook")
    chosen = [word for each in inventories_ for word in ("-i", each)]
    return [
        *(str(program), *chosen, str(playbook)),
        *(word for text in extra for word in _option(text)),
    ]


def _option(text: str) -> list[str]:
    return [text] if text.startswith("-v") else ["-e", text]


def results(words: Mapping[str, Any]) -> Path:
    given = words.get("results")
    return Path(given).absolute() if given else RESULTS


def results_to_read(words: Mapping[str, Any]) -> Path:
    """Raises TurntableError where there are none."""
    found = results(words)
    if not found.is_dir():
        raise TurntableError(
            f"{found}: no such directory, so nothing was measured; expected results of runs. "
            "Measure with `swan sensitivity-profile`, or name another directory: --results DIR"
        )
    return found
