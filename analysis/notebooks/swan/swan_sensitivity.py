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
# # Swan: sensitivity profile of memcached
#
# Rows: what runs beside memcached. Columns: the load that is asked of it. A field is the latency at
# the percentile in percent of the SLO; iterations that break a rule of the verdict are left out.
# FAIL: less than 90 % of the load was reached. What the marks mean: the last cell.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest

# %%
from pathlib import Path

import pandas as pd
from IPython.display import display

import turntable
from turntable import tidy
from turntable.systems.swan import api, plot, tables
from turntable.systems.swan.planning import planning_tables
from turntable.systems.swan.profile import profile_of
from turntable.systems.swan.rendering import older_rule

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "swan/sensitivity") if newest else run_directory
)
profiles = [profile_of(cell) for cell in run.cells]
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %% [markdown]
# ## May the numbers be believed?

# %%
tidy.rounds(run)[["layout", "isolation", "round", "fields", "left_out", "verdict"]]

# %% [markdown]
# ## The profile, by Swan's final rule

# %%
for profile in profiles:
    look = tables.latency_look(profile)
    display(api.styled(profile, look).set_caption(tables.latency_title(profile)))

# %%
plot.sensitivity_chart(run.cells)

# %% [markdown]
# ## Achieved load

# %%
for profile in profiles:
    display(api.styled(profile, tables.achieved_look).set_caption(profile.label))

# %% [markdown]
# ## By Swan's older rule, in µs

# %%
for profile in profiles:
    look = tables.latency_look(profile, older_rule, normalized=False)
    display(api.styled(profile, look).set_caption(profile.label))

# %% [markdown]
# ## What follows for a planner

# %%
for table in planning_tables(profiles):
    display(pd.DataFrame(table.rows).style.hide(axis="index").set_caption(table.title))

# %% [markdown]
# ## Beside the sample that Swan ships, of other hardware

# %%
plot.beside_the_sample(run.cells)

# %%
print(tables.LEGEND)
