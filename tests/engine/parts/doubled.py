"""A network that is wrong in every call."""

from ms_models.random_layers import Residual


class Doubled(Residual):
    """Gives twice the result."""

    def construct(self, x):
        return 2.0 * super().construct(x)
