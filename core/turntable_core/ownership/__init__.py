"""Who has what while a run is in progress.

- owner: who works on a run: user, controller, playbook.
- testbed_lock: a testbed belongs to one run at a time. The supervisors of its hosts are the lock,
  and their lease ends it when the run dies.
- run_claim: a run directory belongs to one playbook at a time. `owner.json` in it says whose it is.
- run_secret: what the nodes of one run prove to each other; as old as the claim.
"""
