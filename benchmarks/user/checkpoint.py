"""Saves a checkpoint of `net_torch.py`, or says whether another one has the same values.

python checkpoint.py save|same FILE
"""

import sys

import torch
from net_torch import Net

torch.manual_seed(0)
values = Net().state_dict()
verb, path = sys.argv[1:]
if verb == "save":
    torch.save(values, path)
    print(f"saved {path}")
else:
    others = torch.load(path, weights_only=True)
    assert values.keys() == others.keys(), values.keys() ^ others.keys()
    assert all(torch.equal(values[name], others[name]) for name in values)
    print(f"all {len(values)} are the same")
