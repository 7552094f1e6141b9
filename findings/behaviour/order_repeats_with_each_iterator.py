"""With a seed, each new iterator of a shuffled data set begins with the same order again.

A loop that makes an iterator in each epoch reads one order in all epochs. One iterator for all of
them, create_tuple_iterator(num_epochs=n), gives another order in each, as a DataLoader does.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import dataset

API = "mindspore.dataset.Dataset"
SEVERITY = "silent"
WHEN = "several epochs"
TORCH = ()

samples = np.arange(64)
ms.set_seed(1)
torch.manual_seed(1)
ours = dataset.NumpySlicesDataset(samples, shuffle=True)
theirs = torch.utils.data.DataLoader(torch.tensor(samples), batch_size=None, shuffle=True)
orders = [
    [int(row[0]) for row in ours.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    for _ in range(2)
]
expected = [[int(row) for row in theirs] for _ in range(2)]
print("expected", expected[0][:8], "and then", expected[1][:8])
print("got     ", orders[0][:8], "and then", orders[1][:8])
assert expected[0] != expected[1]
sys.exit(1 if orders[0] == orders[1] else 0)
