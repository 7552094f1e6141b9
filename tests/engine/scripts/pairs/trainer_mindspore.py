import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.experimental import optim


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 12)
        self.attention = nn.Dense(12, 36)
        self.norm = nn.LayerNorm((12,), epsilon=1e-5)
        self.head = nn.Dense(12, 11)

    def construct(self, ids, mask):
        x = self.embed(ids)
        q, k, v = ops.chunk(self.attention(x), 3, -1)
        scores = ops.bmm(q, k.swapaxes(1, 2)) / 12**0.5
        scores = ops.masked_fill(scores, mask.expand_dims(1) == 0, -1e9)
        return self.head(self.norm(x + ops.bmm(ops.softmax(scores, -1), v)))


class Trainer:
    def __init__(self, model, lr=2e-3, warmup=4):
        self.model = model
        weights = model.trainable_params()
        decay = [p for p in weights if p.ndim > 1]
        plain = [p for p in weights if p.ndim < 2]
        groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
        self.optimizer = optim.AdamW(groups, lr, betas=(0.9, 0.98), eps=1e-8)
        self.warmup = warmup
        self.scheduler = optim.lr_scheduler.LambdaLR(self.optimizer, self.ramp)
        self.grad = ms.value_and_grad(self.compute_loss, None, self.optimizer.parameters)
        self.history = []

    def ramp(self, step):
        return min(1.0, (step + 1) / self.warmup)

    def compute_loss(self, ids, mask, labels):
        logits = self.model(ids, mask)
        return ops.cross_entropy(logits.reshape(-1, 11), labels.reshape(-1), ignore_index=-100)

    def train_step(self, batch):
        self.model.set_train()
        loss, grads = self.grad(*batch)
        grads = ops.clip_by_global_norm(grads, 1.0)
        self.optimizer(grads)
        self.scheduler.step()
        return float(loss.asnumpy())

    def fit(self, batches):
        for batch in batches:
            self.history.append(self.train_step([ms.Tensor(each, ms.int32) for each in batch]))


def batches(count):
    rng = np.random.default_rng(3)
    for _ in range(count):
        ids = rng.integers(0, 11, (4, 7))
        mask = (np.arange(7) < rng.integers(3, 8, (4, 1))).astype("int64")
        labels = np.where((rng.random((4, 7)) < 0.5) & (mask == 1), ids, -100)
        yield ids, mask, labels


Trainer(Encoder()).fit(batches(20))
