"""Networks with nested inputs and outputs, with one mistake each."""

from ms_models import structures


class MaskIgnored(structures.Block):
    """Takes the mask, and uses it nowhere."""

    def attend(self, x, mask=None, past=None):
        return super().attend(x, None if mask is not None else mask, past)


class CacheSwapped(structures.Block):
    """Takes cached values for keys, and keys for values."""

    def construct(self, hidden_states, attention_mask=None, past=None, use_cache=True):
        return super().construct(hidden_states, attention_mask, (past[1], past[0]), use_cache)


class Flat(structures.Block):
    """Returns a tuple where the reference returns a dict, in another order."""

    def construct(self, hidden_states, attention_mask=None, past=None, use_cache=True):
        found = super().construct(hidden_states, attention_mask, past, use_cache)
        return found["cache"], found["hidden_states"]


class OutputForgotten(structures.Block):
    """Returns no cache."""

    def construct(self, hidden_states, attention_mask=None, past=None, use_cache=True):
        return super().construct(hidden_states, attention_mask, past, not use_cache)


class HiddenMissing(structures.Stack):
    """Returns all hidden states but the last."""

    def construct(self, batch, cache):
        found = super().construct(batch, cache)
        return {
            "logits": found["logits"],
            "hidden_states": found["hidden_states"][:-1],
            "cache": found["cache"],
            "blocks": found["blocks"],
        }


class KeysExchanged(structures.Stack):
    """Exchanges the caches of the two blocks."""

    def construct(self, batch, cache):
        return super().construct(batch, (cache[1], cache[0]))


class ScaleForgotten(structures.Stack):
    """Does not read one entry of the batch."""

    def construct(self, batch, cache):
        features = batch["features"]
        return super().construct({"features": features, "scales": 1.0}, cache)
