"""What sees every operator of a PyTorch run, below autograd. Loads torch."""

from torch.utils._python_dispatch import TorchDispatchMode


class Uncompiled(TorchDispatchMode):
    """A dispatch mode that does not import torch's compiler, which takes 2 s."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: torch imports its compiler only to skip it."""
        return False
