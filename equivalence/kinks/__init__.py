"""Where a PyTorch network is not differentiable. Loads torch.

operators: those with kinks: where these are, and what their backward pass is.
watch: how near a run is to them, and how far rounding moves it.
settler: moves a sample away from them.
"""
