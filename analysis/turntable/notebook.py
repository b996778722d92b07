"""The notebook of an experiment, executed for one run: notebook.ipynb and notebook.html.

Sources are <experiment>.py in jupytext's percent format, in the directory that the system names:
what is reviewed and kept is text, outputs exist only in a run's directory. A cell after the one
tagged `parameters` says which run: the notebook's own directory, so that it runs there again as it
is.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import jupytext
import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert import HTMLExporter

from turntable.load import load_run
from turntable.system import analysis_of
from turntable_core import files
from turntable_core.errors import TurntableError

FILE_NAMES = ("notebook.ipynb", "notebook.html")
CELL_DEADLINE_S = 300


def write_notebook(directory: Path, sources: Path | None = None) -> Path:
    """Executes and writes both files; returns the path of the page. sources: of the system if None.

    Raises TurntableError when the experiment has no notebook or a cell fails: nothing is written.
    """
    plan = load_run(directory).plan
    analysis = analysis_of(plan)
    name = analysis.notebook_names.get(plan.experiment, plan.experiment)
    source = _source(plan.experiment, name, sources or analysis.notebooks)
    notebook = _for_run(jupytext.read(source))
    _execute(notebook, directory, source)
    pages = (nbformat.writes(notebook), _html(notebook, directory))
    for name, text in zip(FILE_NAMES, pages, strict=True):
        files.replace(directory / name, text.encode())
    return directory / FILE_NAMES[1]


def _source(experiment: str, name: str, sources: Path | None) -> Path:
    if sources is None:
        raise TurntableError(f"experiment {experiment} has no notebook: its system has none")
    source = sources / f"{name}.py"
    if not source.exists():
        have = ", ".join(sorted(path.stem for path in sources.glob("*.py"))) or "none"
        raise TurntableError(f"{source}: experiment {experiment} has no notebook; there are {have}")
    return source


def _for_run(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Tells the notebook its run. Identifiers are numbers, so that they are the same each time."""
    position = next(
        index
        for index, cell in enumerate(notebook.cells)
        if "parameters" in cell.metadata.get("tags", ())
    )
    chosen = nbformat.v4.new_code_cell('run_directory = "."  # the directory of this notebook')
    chosen.metadata["tags"] = ["injected-parameters"]
    notebook.cells.insert(position + 1, chosen)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


def _execute(notebook: nbformat.NotebookNode, directory: Path, source: Path) -> None:
    """In a kernel that leaves nothing behind, and is reached through sockets in a directory."""
    with tempfile.TemporaryDirectory(prefix="turntable-") as temporary:
        kernel = KernelManager(
            kernel_name="python3",
            transport="ipc",
            ip=f"{temporary}/kernel",
            connection_file=f"{temporary}/kernel.json",
        )
        client = NotebookClient(
            notebook,
            km=kernel,
            timeout=CELL_DEADLINE_S,
            resources={"metadata": {"path": str(directory)}},
            record_timing=False,
        )
        try:
            client.execute(env=os.environ | {"IPYTHONDIR": temporary})
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
            raise TurntableError(f"{source}: a cell failed for {directory}:\n{plain}") from None
        finally:
            if kernel.has_kernel:
                kernel.shutdown_kernel(now=True)


def _html(notebook: nbformat.NotebookNode, directory: Path) -> str:
    """A page that loads nothing: no formula or widget here needs the exporter's scripts."""
    name = f"{directory.resolve().parent.name} {directory.resolve().name}"
    exporter = HTMLExporter(template_name="lab")
    text, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": name}})
    return re.sub(r"<script\b.*?</script>", "", text, flags=re.DOTALL)
