import argparse

import numpy as np
from mindspore import dataset, nn
from mindspore.train import Callback, LossMonitor, Model


class Told(Callback):
    def on_train_epoch_end(self, run_context):
        params = run_context.original_args()
        print("epoch", params.cur_epoch_num, "step", params.cur_step_num)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    x = rng.normal(size=(48, 6)).astype("float32")
    y = (x[:, :1] - 0.5 * x[:, 1:2]).astype("float32")
    data = dataset.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(8)
    layers = nn.Dense(6, 16), nn.LayerNorm((16,), epsilon=1e-5), nn.Tanh(), nn.Dense(16, 1)
    net = nn.SequentialCell(*layers)
    groups = [{"params": net.trainable_params()}]
    optimizer = nn.Momentum(groups, options.lr, 0.9, weight_decay=0.05)
    model = Model(net, nn.MSELoss(), optimizer)
    model.train(3, data, callbacks=[LossMonitor(), Told()])


if __name__ == "__main__":
    main()
