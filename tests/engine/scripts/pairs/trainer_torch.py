import numpy as np
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 12)
        self.attention = nn.Linear(12, 36)
        self.norm = nn.LayerNorm(12)
        self.head = nn.Linear(12, 11)

    def forward(self, ids, mask):
        x = self.embed(ids)
        q, k, v = self.attention(x).chunk(3, -1)
        scores = (q @ k.transpose(1, 2)) / 12**0.5
        scores = scores.masked_fill(mask[:, None] == 0, -1e9)
        return self.head(self.norm(x + scores.softmax(-1) @ v))


class Trainer:
    def __init__(self, model, lr=2e-3, warmup=4):
        self.model = model
        decay = [p for p in model.parameters() if p.ndim > 1]
        plain = [p for p in model.parameters() if p.ndim < 2]
        groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.98), eps=1e-8)
        self.warmup = warmup
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self.ramp)
        self.history = []

    def ramp(self, step):
        return min(1.0, (step + 1) / self.warmup)

    def compute_loss(self, ids, mask, labels):
        logits = self.model(ids, mask)
        return nn.functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=-100
        )

    def train_step(self, batch):
        self.model.train()
        loss = self.compute_loss(*batch)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()

    def fit(self, batches):
        for batch in batches:
            self.history.append(self.train_step([torch.from_numpy(each) for each in batch]))


def batches(count):
    rng = np.random.default_rng(3)
    for _ in range(count):
        ids = rng.integers(0, 11, (4, 7))
        mask = (np.arange(7) < rng.integers(3, 8, (4, 1))).astype("int64")
        labels = np.where((rng.random((4, 7)) < 0.5) & (mask == 1), ids, -100)
        yield ids, mask, labels


Trainer(Encoder()).fit(batches(20))
