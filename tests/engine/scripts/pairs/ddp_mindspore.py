import mindspore as ms
import numpy as np
from mindspore import dataset, nn, ops
from mindspore.communication import get_group_size, get_rank, init


def main():
    init()
    rank, world = get_rank(), get_group_size()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(3)
    conv = nn.Conv2d(2, 4, 3, pad_mode="valid", has_bias=True)
    net = nn.SequentialCell(conv, nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dense(48, 3))
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(24, 2, 6, 5)).astype("float32"), rng.integers(0, 3, 24)
    data = dataset.NumpySlicesDataset(
        (x, y.astype("int32")), ["x", "y"], num_shards=world, shard_id=rank
    ).batch(12 // world, drop_remainder=True)
    rates = nn.piecewise_constant_lr([1, 4, 99], [0.1 * world * each for each in (1, 0.5, 0.25)])
    optimizer = nn.SGD(net.trainable_params(), rates, momentum=0.9)
    reducer = nn.DistributedGradReducer(optimizer.parameters)

    def forward(x, y):
        return ops.cross_entropy(net(x), y)

    step = ms.value_and_grad(forward, None, optimizer.parameters)
    net.set_train()
    rows = data.create_tuple_iterator(num_epochs=3)
    for epoch in range(3):
        for images, labels in rows:
            loss, grads = step(images, labels)
            optimizer(reducer(grads))
            if rank == 0:
                print(epoch, loss)


if __name__ == "__main__":
    main()
