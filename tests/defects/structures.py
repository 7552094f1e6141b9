"""Mistakes with inputs by keyword, caches, and outputs in mappings."""

from tests.defects import structures_candidates as wrong
from tests.defects.makers import variant
from tests.defects.victim import victim

BLOCK = victim("block_with_keywords")
STACK = victim("stack_with_caches")

# fmt: off
DEFECTS = (
    variant("mask_ignored", BLOCK, wrong.MaskIgnored,
        "the mask is an argument and used nowhere"),
    variant("cache_swapped", BLOCK, wrong.CacheSwapped,
        "keys and values of the cache change places"),
    variant("tuple_in_another_order", BLOCK, wrong.Flat,
        "the outputs are in a tuple, the cache before what the dict has first"),
    variant("cache_not_returned", BLOCK, wrong.OutputForgotten,
        "None where the next call needs the cache"),
    variant("last_hidden_state_missing", STACK, wrong.HiddenMissing,
        "the tuple of hidden states ends before the last block"),
    variant("caches_exchanged", STACK.compiled, wrong.KeysExchanged,
        "each block reads the other's cache"),
    variant("entry_of_the_batch_unread", STACK.compiled, wrong.ScaleForgotten,
        "one entry of the batch is not used"),
)
# fmt: on
