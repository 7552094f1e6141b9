"""Pairs of training scripts on ranks, and mistakes of a port that show there alone."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OnRanks:
    """A mistake in a port that is launched on ranks, or whose original is.

    pair: the pair. name: what it is. edits, of_reference: of the port and the original.
    step, stage: where it must be found. hint: how its explanation begins; "" for none.
    ranks: of the original and of the port.
    """

    pair: str
    name: str
    edits: tuple[tuple[str, str], ...]
    step: int
    stage: str
    hint: str = ""
    ranks: tuple[int, int] = (2, 2)
    of_reference: tuple[tuple[str, str], ...] = ()


REDUCED = "optimizer(reducer(grads))"
MEAN, SUM = "(optimizer.parameters)\n", "(optimizer.parameters, mean=False)\n"
STATISTICS = "            send(w for w in net.get_parameters() if not w.requires_grad)\n"
SUMMED = "it is 2 times the original's: summed over the ranks, and not averaged"
OWN = "it is the rank's own: not averaged over the ranks"
BROADCAST = (
    "DistributedDataParallel(Net())",
    "DistributedDataParallel(Net(), broadcast_buffers=False)",
)
SHARDED = "shuffle=True, num_shards=ranks, shard_id=rank"
NORMS = (
    (("nn.LayerNorm((8,), epsilon=1e-5)", "nn.BatchNorm1d(8)"),),
    (("nn.LayerNorm(8)", "nn.BatchNorm1d(8)"),),
)

MISTAKES = (
    OnRanks("ranks", "a sum of gradients for their mean", ((MEAN, SUM),), 1, "clipping", SUMMED),
    OnRanks(
        "ranks", "gradients are not averaged", ((REDUCED, "optimizer(grads)"),), 1, "clipping", OWN
    ),
    OnRanks(
        "ranks",
        "a mean is divided once more",
        ((REDUCED, "optimizer(tuple(g / 2 for g in reducer(grads)))"),),
        1,
        "clipping",
        "it is 1/2 of the original's: divided by the number of ranks too often",
    ),
    OnRanks(
        "ranks",
        "statistics of the first rank are not sent",
        ((STATISTICS, ""),),
        2,
        "update",
        "it goes on from its own, and from the first rank's in the original",
    ),
    OnRanks(
        "ranks",
        "statistics are sent, and broadcast_buffers=False in the original",
        (),
        2,
        "update",
        "it goes on from the first rank's, and from its own in the original",
        of_reference=(BROADCAST,),
    ),
    OnRanks(
        "ranks",
        "initial weights are not sent",
        (("    send(net.get_parameters())\n", ""),),
        1,
        "forward",
        "it begins with weights of its own: the first rank's are not sent to it",
    ),
    OnRanks(
        "ranks",
        "another rank's samples",
        (("shard_id=get_rank()", "shard_id=1 - get_rank()"),),
        1,
        "data",
        "it is the original's of rank 1",
    ),
    OnRanks(
        "ranks",
        "the last batch is dropped",
        (("data.batch(5)", "data.batch(5, drop_remainder=True)"),),
        2,
        "data",
    ),
    OnRanks(
        "whole", "of one process: a sum for a mean", ((MEAN, SUM),), 1, "clipping", SUMMED, (1, 2)
    ),
    OnRanks(
        "whole",
        "of one process: gradients are not averaged",
        ((REDUCED, "optimizer(grads)"),),
        1,
        "clipping",
        OWN,
        (1, 2),
    ),
    OnRanks(
        "whole",
        "of one process: each rank has half of the data",
        ((SHARDED, "shuffle=False"), ("data.batch(", "data.skip(12 * rank).take(12).batch(")),
        1,
        "data",
        "4 of its 4 samples are not among the original's 8 of this step",
        (1, 2),
        (("shuffle=True", "shuffle=False"),),
    ),
    OnRanks(
        "whole",
        "of one process: all ranks read the first part",
        (("shard_id=rank", "shard_id=0"),),
        1,
        "data",
        "",
        (1, 2),
    ),
    OnRanks(
        "whole",
        "of one process: BatchNorm by the samples of a rank",
        NORMS[0],
        1,
        "forward",
        "norm normalises by the samples of its rank, and by the whole batch in the original",
        (1, 2),
        NORMS[1],
    ),
    OnRanks(
        "joined",
        "of ranks: one process with half of the rate",
        (("net.trainable_params(), 0.2,", "net.trainable_params(), 0.1,"),),
        1,
        "schedule",
        "",
        (2, 1),
    ),
    OnRanks(
        "joined",
        "of ranks: one process with a sum of losses",
        (("nn.CrossEntropyLoss()", 'nn.CrossEntropyLoss(reduction="sum")'),),
        1,
        "loss",
        "",
        (2, 1),
    ),
)
