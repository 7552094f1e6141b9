"""Where a PyTorch network is not differentiable. Loads torch.

choices: operators that choose an entry, such as a max pooling, and how nearly another one.
operators: those with kinks: where these are, and what their backward pass is.
watch: how near a run is to them, and how far rounding moves it.
settler: moves a sample away from them.
"""
