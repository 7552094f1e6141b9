"""The in-place operators zero_, fill_, clamp_, masked_fill_ and index_add_ have no CPU kernel."""

import sys

import mindspore as ms
import torch

API = "mindspore.Tensor.zero_"

calls = {
    "zero_": lambda x, _: x.zero_(),
    "fill_": lambda x, _: x.fill_(3.0),
    "clamp_": lambda x, _: x.clamp_(0.0, 1.0),
    "masked_fill_": lambda x, tensor: x.masked_fill_(tensor([True, False]), 9.0),
    "index_add_": lambda x, tensor: x.index_add_(0, tensor([0]), tensor([5.0])),
}
for name, call in calls.items():
    x = torch.tensor([1.0, 2.0])
    call(x, torch.tensor)
    print("expected", name, x.tolist())
missing = []
for name, call in calls.items():
    try:
        call(ms.Tensor([1.0, 2.0]), ms.Tensor).asnumpy()
    except RuntimeError:
        missing.append(name)
print("got      no kernel for", *missing)
sys.exit(1 if missing else 0)
