"""The one stream of operators of each framework: who sees or replaces what a run calls.

observer: what sees a call before and after it runs, or stands for it; what a call is, the code
that makes it, and the layers that run now.
torch_stream: that of PyTorch: its only modes, its switches, and the order of all observers.
mindspore_stream: that of MindSpore: its only modes, what the compiler reads, its executor.
torch_devices: puts the CPU in the place of CUDA where torch has none.
borrowing: a run of the candidate must not use torch.
patches: attributes of a framework that have another value for a while.
"""
