# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: -jupytext.text_representation
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # FarReach, experiment 9: recovery of a killed switch and its servers
#
# After every window the nodes that `crash` names are killed and what only the switch had is brought
# back, from the clients' copies and the servers. Results count valid rounds only; what is missing
# is a gap, never a zero. What the phases are: `docs/kvcache.md` §9, `docs/farreach.md`.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest

# %%
from pathlib import Path

import pandas as pd

import turntable
from turntable.systems.farreach import recovery, tidy

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "farreach/exp09_recovery")
    if newest
    else run_directory
)
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %% [markdown]
# ## Was everything brought back?
#
# A round is valid only if the switch has all its keys again, the same as before, and a second
# recovery found no record that was newer than the servers'.

# %%
labels = {cell.id: cell.label for cell in run.cells}
rounds = tidy.rounds(run)
rounds.assign(cell=rounds["cell"].map(labels))[["cell", "round", "iterations_ok", "verdict"]]

# %% [markdown]
# ## Phases (ms)
#
# Means over all recoveries of the valid rounds. A cell without a valid round is left out.

# %%
recoveries = [each for each in recovery.recovered(run.cells) if each.recoveries]
none = "no valid round: there is nothing to show, the table of rounds says why"
phases = pd.DataFrame(
    [each.phases_s for each in recoveries],
    index=[each.label for each in recoveries],
    columns=list(recovery.PHASES),
    dtype=float,
)
phases.assign(all=phases.sum(axis=1, min_count=1)).mul(1e3).round(1) if recoveries else none

# %%
if recoveries:
    axes = phases.mul(1e3).plot.barh(stacked=True, figsize=(8, 0.6 + 0.5 * len(phases)))
    axes.set_xlabel("ms, means")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    axes.invert_yaxis()
# %% [markdown]
# ## Replay beside the paper
#
# Records per second at the servers and at the switch, and the published time of the switch's replay
# turned into a rate: the paper's 1.0 s of copying files comes on top.

# %%
rates = pd.DataFrame(
    {
        "records": [each.records for each in recoveries],
        "server_records_per_s": [each.server_rate for each in recoveries],
        "switch_records_per_s": [each.switch_rate for each in recoveries],
        "paper_switch_records_per_s": [each.paper_switch_rate for each in recoveries],
    },
    index=[each.label for each in recoveries],
    dtype=float,
)
rates.round(0) if recoveries else none
