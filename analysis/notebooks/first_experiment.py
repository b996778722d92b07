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
# # Your first experiment: change a parameter, compare two runs
#
# The question: **how much throughput is lost because some keys are more popular than others?**
# `theta` is the skew of the popularity: 0.99 as in YCSB, and 0.5, where keys are more equal.
#
# Measure both in a terminal, with the testbed up (`make testbed-up`). Each takes about a minute:
#
#     sudo .venv/bin/ansible-playbook playbooks/farreach/exp01_throughput.yml \
#         -e profile=smoke -e rounds=3 -e run=first
#     sudo .venv/bin/ansible-playbook playbooks/farreach/exp01_throughput.yml \
#         -e profile=smoke -e rounds=3 -e run=second -e theta=0.5
#
# `-e NAME=VALUE` sets any parameter of the experiment's file. With `--check` at the end the
# playbook only says what it would measure and how long that takes. Then run the cells below.

# %% tags=["parameters"]
first_run = None  # results/<experiment>/<run>; None takes the run with the name `first`
second_run = None

# %%
from pathlib import Path

import pandas as pd

import turntable
from turntable import stats, tidy

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons

results, experiment = Path("../../results"), "farreach/exp01_throughput"
runs = [
    turntable.load_run(directory or turntable.find_run(results, experiment, name))
    for name, directory in (("first", first_run), ("second", second_run))
]
order = [run.name for run in runs]
order

# %% [markdown]
# ## 1. What differs?
#
# It should be what you have changed, and nothing else.

# %%
parameters = tidy.parameters(runs).drop(columns="cell")
values = parameters.groupby("run").agg(lambda column: ", ".join(dict.fromkeys(map(str, column))))
values.T.loc[values.nunique() > 1, order]

# %% [markdown]
# ## 2. May the numbers be believed?
#
# A verdict is about the measurement, not about the result. An invalid round says why, and the
# comparison below leaves it out.

# %%
rounds = tidy.rounds(runs)
rounds[["run", "workload", "round", "verdict"]]

# %% [markdown]
# ## 3. What came out?
#
# Normalized throughput is that of all servers together, divided by that of the busiest one: 16 if
# 16 servers had equal load. `predicted` is worked out from the popularity of the keys, before
# anything is measured. `half_width` belongs to the 95 % interval over the rounds (Student's t).

# %%
measured = stats.with_interval(
    rounds[rounds["valid"]], ["run", "workload"], ["normalized_throughput"]
)
predicted = rounds.groupby(["run", "workload"], as_index=False)["predicted_normalized"].first()
predicted.merge(measured, "left").round(3)

# %% [markdown]
# ## 4. How large is the change?
#
# The second run relative to the first, measured and as predicted. Is the measured change larger
# than the two half widths above together? If not, measure more rounds (`-e rounds=9`).

# %%
both = rounds[rounds["valid"]].pivot_table(
    index="workload", columns="run", values=["normalized_throughput", "predicted_normalized"]
)
change = {
    column: both[column][order[1]] / both[column][order[0]]
    for column in both.columns.unique(level=0)
    if set(order) <= set(both[column].columns)
}
pd.DataFrame(change).dropna().round(3)

# %% [markdown]
# ## Go on
#
# - Another parameter: `experiments/farreach/exp01_throughput.yml` lists them, `docs/experiments.md`
#   explains them.
# - The figures of one run: its `report.html`, or `make notebook`.
# - The columns: `docs/analysis.md`.
