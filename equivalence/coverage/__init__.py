"""What a PyTorch network uses, and which of it is verified. Frameworks are imported late.

`command` prints the table. `usage` finds the APIs in code or in a module. `torch_names` knows
torch's names. `defaults` compares default arguments. `accept` keeps the errors of a gate's run.
"""
