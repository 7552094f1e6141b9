"""The in-place methods zero_, fill_, clamp_, masked_fill_, index_add_ and others run on no CPU."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.Tensor.zero_"
SEVERITY = "raises"
ERROR = (
    "bernoulli_: 'bernoulli_' is not supported on this device",
    "normal_: Create kernelmod for op InplaceNormal failed",
    "random_: Create kernelmod for op InplaceRandom failed",
    "uniform_: Create kernelmod for op InplaceUniform failed",
    "exponential_: Not implement",
    "addmm_: The kernel InplaceAddmm",
    "clamp_: The kernel InplaceClampScalar",
    "erfinv_: The kernel InplaceErfinv",
    "fill_: The kernel InplaceFillScalar",
    "floor_: The kernel InplaceFloor",
    "index_add_: The kernel InplaceIndexAddExt",
    "index_copy_: The kernel InplaceIndexCopy",
    "index_fill_: The kernel InplaceIndexFillScalar",
    "index_put_: The kernel InplaceIndexPut",
    "log_: The kernel InplaceLog",
    "masked_fill_: The kernel InplaceMaskedFillScalar",
    "masked_scatter_: The kernel InplaceMaskedScatter",
    "scatter_add_: The kernel InplaceScatterAdd",
    "scatter_: The kernel InplaceScatterSrc",
    "sigmoid_: The kernel InplaceSigmoid",
    "sign_: The kernel InplaceSign",
    "tanh_: The kernel InplaceTanh",
    "zero_: The kernel InplaceZero",
    "put_: There is no branch to go function tensor_put_",
    "fill_diagonal_: should not come here for fill_diagonal method",
)
TORCH = (
    "torch.Tensor.bernoulli_",
    "torch.Tensor.normal_",
    "torch.Tensor.random_",
    "torch.Tensor.uniform_",
    "torch.Tensor.exponential_",
    "torch.Tensor.addmm_",
    "torch.Tensor.clamp_",
    "torch.Tensor.erfinv_",
    "torch.Tensor.fill_",
    "torch.Tensor.floor_",
    "torch.Tensor.index_add_",
    "torch.Tensor.index_copy_",
    "torch.Tensor.index_fill_",
    "torch.Tensor.index_put_",
    "torch.Tensor.log_",
    "torch.Tensor.masked_fill_",
    "torch.Tensor.masked_scatter_",
    "torch.Tensor.scatter_add_",
    "torch.Tensor.scatter_",
    "torch.Tensor.sigmoid_",
    "torch.Tensor.sign_",
    "torch.Tensor.tanh_",
    "torch.Tensor.zero_",
    "torch.Tensor.put_",
    "torch.Tensor.fill_diagonal_",
)

VALUES = np.float32([[0.25, 0.5], [0.75, 0.5]])
CALLS = {  # every other method is called without arguments
    "addmm_": lambda x, tensor: x.addmm_(tensor(VALUES), tensor(VALUES)),
    "bernoulli_": lambda x, _: x.bernoulli_(0.5),
    "clamp_": lambda x, _: x.clamp_(0.0, 0.5),
    "fill_": lambda x, _: x.fill_(3.0),
    "fill_diagonal_": lambda x, _: x.fill_diagonal_(2.0),
    "index_add_": lambda x, tensor: x.index_add_(0, tensor([0]), tensor([[5.0, 6.0]])),
    "index_copy_": lambda x, tensor: x.index_copy_(0, tensor([0]), tensor([[5.0, 6.0]])),
    "index_fill_": lambda x, tensor: x.index_fill_(0, tensor([0]), 5.0),
    "index_put_": lambda x, tensor: x.index_put_((tensor([0]),), tensor([5.0, 6.0])),
    "masked_fill_": lambda x, tensor: x.masked_fill_(tensor([True, False]), 9.0),
    "masked_scatter_": lambda x, tensor: x.masked_scatter_(tensor(VALUES > 0.5), tensor(VALUES)),
    "put_": lambda x, tensor: x.put_(tensor([0]), tensor([5.0])),
    "random_": lambda x, _: x.random_(1, 5),
    "scatter_": lambda x, tensor: x.scatter_(0, tensor([[0, 1]]), tensor([[5.0, 6.0]])),
    "scatter_add_": lambda x, tensor: x.scatter_add_(0, tensor([[0, 1]]), tensor([[5.0, 6.0]])),
}

names = [name.rpartition(".")[2] for name in TORCH]
ms.set_context(pynative_synchronize=True)  # or a call raises the error of the one before
refused = []
for name in names:
    call = CALLS.get(name, lambda x, _, name=name: getattr(x, name)())
    call(torch.tensor(VALUES), torch.tensor)
    try:
        call(ms.Tensor(VALUES.copy()), ms.Tensor).asnumpy()
    except (RuntimeError, ValueError) as error:
        refused.append(f"{name}: {str(error).splitlines()[0]}")
print("expected results of", *names)
print("got     ", "; ".join(refused))
sys.exit(1 if refused else 0)
