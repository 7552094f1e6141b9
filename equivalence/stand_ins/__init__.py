"""What stands on a CPU in the place of operators that MindSpore has on an Ascend alone.

context: puts the stand-ins in place, and counts which of them run.
faulty: what is right in the place of operators that are silently wrong, for a diagnosis.
table: primitive -> what stands for it, and the function of MindSpore that calls it.
in_place: methods that change a tensor, and what optimisers do with a weight.
making: tensors that are made, filled, joined, cut and sorted, and maps that are resized.
arithmetic: elementwise functions, sums and products.
layers: norms, convolutions, poolings, activations and losses.
windows: poolings of any axes, unfoldings and paddings.
attention: the fused operators of transformers.
loss_scales: steps that skip an update whose gradients overflow.

All of it is built from operators that have kernels on a CPU, forward and backward, so that
MindSpore can differentiate and compile it. Loads MindSpore.
"""
