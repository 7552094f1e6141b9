"""A student of a teacher that is not trained."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
data = np.random.default_rng(0).normal(size=(5, 8, 4)).astype("float32")
teacher, student = nn.Dense(4, 5), nn.Dense(4, 5)
teacher.set_train(False)
student.set_train()
optimizer = nn.SGD(student.trainable_params(), 0.1)


def forward(x):
    wanted = ops.softmax(ops.stop_gradient(teacher(x)) / 4, axis=1)
    logs = ops.log_softmax(student(x) / 4, axis=1)
    return ops.kl_div(logs, wanted, reduction="batchmean") * 16


step = ms.value_and_grad(forward, None, optimizer.parameters)
for batch in data:
    loss, gradients = step(ms.Tensor(batch))
    optimizer(gradients)
