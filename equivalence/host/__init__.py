"""The machine that a run is on. Frameworks are imported inside functions only.

environment: prepares a process before NumPy and the frameworks are imported.
devices: the devices, their compute modes, and which of them this host has.
memory: how much of it is free, and how much a process holds.
guard: says in which test a process died.
isolation: restores the state of the process after each case, and keeps the folder clean.
conditions: all that verdicts depend on, but for the project's own sources and its cases.
watch: what the project's own sources reach in a run and do not name.
"""
