"""Photos that are cropped, flipped and coloured at random, in a plain loop."""

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Photos(Dataset):
    def __init__(self, transform):
        draw = np.random.default_rng(3)
        self.images = draw.integers(0, 256, (24, 12, 12, 3), dtype=np.uint8)
        self.labels = draw.integers(0, 5, 24)
        self.transform = transform

    def __len__(self):
        return 24

    def __getitem__(self, index):
        return self.transform(Image.fromarray(self.images[index])), int(self.labels[index])


augment = transforms.Compose(
    [
        transforms.RandomCrop(12, padding=2),
        transforms.RandomHorizontalFlip(),
        transforms.ColorJitter(0.4, 0.4, 0.4),
        transforms.ToTensor(),
        transforms.Normalize((0.49, 0.48, 0.45), (0.25, 0.24, 0.26)),
    ]
)
torch.manual_seed(1)
loader = DataLoader(Photos(augment), batch_size=8, shuffle=True, drop_last=True)
net = nn.Sequential(
    nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(576, 5)
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for _ in range(2):
    for images, labels in loader:
        images = images * 0.5
        loss = nn.functional.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
