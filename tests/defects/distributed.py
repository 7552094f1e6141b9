"""Mistakes in training on several ranks. A culprit is a rank; `cause` is part of the diagnosis."""

from tests.defects.defect import Defect

HERE = "tests.defects.distributed_candidates:"


def mistaken(
    name: str, mistake: str, ranks: tuple[int, ...], cause: str, raises: str | None = None
) -> Defect:
    """A defect of the declared training, made by the candidate of its name.

    ranks: those that the diagnosis names; none where it is all of them alike.
    """
    return Defect(
        name,
        mistake,
        twin="data_parallel",
        where={"execution": "pynative"},
        culprit=tuple(f"rank {rank}" for rank in ranks) or None,
        cause=cause,
        candidate=HERE + name,
        raises=raises,
    )


# fmt: off
DEFECTS = (
    mistaken("summed", "gradients_mean is left at False", (0, 1), "summed, not averaged"),
    mistaken("divided_twice", "the reducer's mean is divided by the number of ranks once more",
        (0, 1), "divided once too often"),
    mistaken("not_reduced", "a step written out has no reducer", (0, 1), "the rank's own"),
    mistaken("one_rank_alone", "one rank uses its own gradients", (1,), "the rank's own"),
    mistaken("last_group_lost",
        "of gradients that are split in two, the second group is not averaged",
        (0, 1), "backbone.fc.weight, backbone.fc.bias: the rank's own"),
    mistaken("not_sent", "ranks begin with initial weights of their own", (1,),
        "begins with other weights"),
    mistaken("one_shard", "shard_id is 0 in every rank", (0, 1), "the samples of rank 0"),
    mistaken("whole_data", "num_shards is left out", (0, 1),
        "from its sample number 2 on, 1, 2, 3, 4"),
    mistaken("blocks", "each rank reads a run of neighbours", (0, 1),
        "number 1 on, 12, 13, 14, 15"),
    mistaken("tail_dropped", "samples that do not come out even are dropped, not repeated", (0, 1),
        "number 12 on, 1, 3, 5, 7, 9, 11, ... where it is to read 0, 1, 3, 5, 7, 9, ..."),
    mistaken("rate_scaled",
        "the rate is multiplied by the number of ranks, gradients are averaged all the same",
        (0, 1), "2 times as long, the number of ranks"),
    mistaken("same_statistics", "the first rank's moving statistics are sent to all", (1,),
        "they are the first rank's"),
    mistaken("synchronised", "BatchNorm became SyncBatchNorm", (),
        "statistics are those of all ranks' batches together"),
    mistaken("absent_from_sums",
        "one rank leaves the sum out, and is gone when the other waits for it",
        (0,), "Launch kernel failed: Default/AllReduce", raises="SideError"),
    mistaken("hung_loader",
        "the loader of one rank waits for what never comes, and the other for it",
        (0, 1), "rank 1 stands at step 1 of 5 (", raises="SideError"),
    mistaken("without_data", "the data set is not there for one rank", (0, 1),
        "raised FileNotFoundError: no such folder: train (", raises="SideError"),
)
