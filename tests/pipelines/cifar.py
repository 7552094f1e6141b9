"""CIFAR-10 and CIFAR-100."""

from equivalence.declare.twin import grid
from tests.pipelines.making import FEW, beside

PIPELINES = (
    beside(
        "cifar10_train",
        "cifar10_train",
        "cifar10_train",
        "cifar10",
        configs=[*grid(**FEW, size=[32, 56]), *grid(**FEW, num_shards=3)],
    ),
    beside(
        "cifar10_eval",
        "cifar10_eval",
        "cifar10_eval",
        "cifar10",
        configs=grid(**FEW, size=[32, 56]),
    ),
    beside("cifar100_eval", "cifar100_eval", "cifar100_eval", "cifar100", configs=grid(**FEW)),
    beside(
        "cifar10_train_full",
        "cifar10_train",
        "cifar10_train",
        "cifar10",
        configs=grid(size=224, batch_size=32, num_samples=80),
        level="nightly",
    ),
    beside(
        "cifar10_shards_full",
        "cifar10_train",
        "cifar10_train",
        "cifar10",
        configs=grid(num_shards=8, batch_size=32, num_samples=256),
        level="nightly",
    ),
)
