"""The one stream of operators of each framework: who sees or replaces what a run calls.

observer: what sees a call before and after it runs, or stands for it; what a call is.
torch_stream: that of PyTorch: its only modes, its switches, and the order of all observers.
mindspore_stream: that of MindSpore: its only modes, what the compiler reads, its executor.
borrowing: a run of the candidate must not use torch.
frames: the code that makes a call.
layers: the layers that run now.
patches: attributes of a framework that have another value for a while.
"""
