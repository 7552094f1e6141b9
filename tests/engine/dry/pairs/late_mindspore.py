import mindspore as ms
import numpy as np
from mindspore import amp, nn, ops

STEPS, WARMUP = 120, 40
net = nn.SequentialCell(nn.Dense(6, 8), nn.Tanh(), nn.Dense(8, 3))
weights = net.trainable_params()
average = [ms.Parameter(each.copy(), name=f"average.{each.name}") for each in weights]
matrices = [each for each in weights if each.ndim > 1]
vectors = [each for each in weights if each.ndim == 1]
groups = [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}]
optimizer = ms.experimental.optim.AdamW(groups, lr=1e-2)
schedule = ms.experimental.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: (s + 1) / WARMUP if s < WARMUP else 0.1 ** (s // 80)
)
scaler = amp.DynamicLossScaler(1024.0, 2, 25)
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(64, 6)).astype("float32"), rng.integers(0, 3, 64).astype("int32")
factor = 1.0


def forward(x, y):
    return scaler.scale(ops.cross_entropy(net(x), y) * factor)


gradients = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
step = 0
for epoch in range(15):
    order = np.random.default_rng(epoch).permutation(64)
    for start in range(0, 64, 8):
        index = order[start : start + 8]
        x, y = ms.Tensor(X[index]), ms.Tensor(Y[index])
        factor = 1.0 if step < 90 else 0.5
        loss, grads = gradients(x, y)
        finite = amp.all_finite(grads)
        grads = scaler.unscale(grads)
        if finite:
            grads = ops.clip_by_global_norm(grads, 5.0)
            optimizer(grads)
        scaler.adjust(finite)
        schedule.step()
        if step == 70:
            optimizer.param_groups[0]["weight_decay"] = 0.1
        decay = min(0.9, (1 + step) / (10 + step))
        for mean, weight in zip(average, weights, strict=True):
            ops.assign(mean, decay * mean + (1 - decay) * weight)
        step += 1
    ms.save_checkpoint(net, "last.ckpt")
