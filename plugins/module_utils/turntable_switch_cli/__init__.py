"""A vendor's switch, by its command line over SSH.

What vendors differ in is data (templates/switch_qos/VENDOR): how a switch talks, and which commands
show and make a setting. `session` has the conversation, `converge` the way from what a switch shows
to what is wanted.
"""
