import numpy as np
import torch
from torch import nn

torch.manual_seed(7)
generator = nn.Sequential(nn.Linear(4, 12), nn.LeakyReLU(0.2), nn.Linear(12, 6))
discriminator = nn.Sequential(nn.Linear(6, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
of_generator = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999), eps=1e-15)
of_discriminator = torch.optim.Adam(
    discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999), eps=1e-15
)
criterion = nn.BCEWithLogitsLoss()
rng = np.random.default_rng(5)

for step in range(8):
    real = torch.from_numpy(rng.normal(size=(10, 6)).astype("float32"))
    ones, zeros = torch.ones(10, 1), torch.zeros(10, 1)
    z = torch.randn(10, 4)

    of_discriminator.zero_grad()
    fake = generator(z).detach()
    loss_d = criterion(discriminator(real), ones) + criterion(discriminator(fake), zeros)
    loss_d.backward()
    of_discriminator.step()

    of_generator.zero_grad()
    loss_g = criterion(discriminator(generator(z)), ones)
    loss_g.backward()
    of_generator.step()
    print(step, loss_d.item(), loss_g.item())
