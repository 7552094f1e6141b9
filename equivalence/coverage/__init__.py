"""What PyTorch code uses, call by call, and which of it is verified. Frameworks are imported late.

`command` prints `text`'s table. `usage` finds the calls in a file, a folder or a module: `files`
follows names to where they are defined, `reader` reads code, `values` tells what is a tensor, and
`torch_names` knows torch's names. `verdict` judges a call by what is `known`: the declarations with
the arguments that are `compared`, and the findings. `defaults` compares default arguments.
`command` also keeps the errors of a gate's run.
"""
