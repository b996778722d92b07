"""Access to the hosts of a testbed over ssh: whose key is whose."""
