"""The machine that a run is on. Frameworks are imported inside functions only.

environment: prepares a process before NumPy and the frameworks are imported.
devices: the devices, their compute modes, and which of them this host has.
guard: says in which test a process died.
isolation: restores the state of the process after each case, and keeps the folder clean.
"""
