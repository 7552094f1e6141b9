import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.experimental import optim

ms.set_seed(7)
generator = nn.SequentialCell(nn.Dense(4, 12), nn.LeakyReLU(0.2), nn.Dense(12, 6))
discriminator = nn.SequentialCell(nn.Dense(6, 12), nn.LeakyReLU(0.2), nn.Dense(12, 1))
of_generator = optim.Adam(generator.trainable_params(), 2e-3, betas=(0.5, 0.999), eps=1e-15)
of_discriminator = optim.Adam(discriminator.trainable_params(), 1e-3, betas=(0.5, 0.999), eps=1e-15)
criterion = nn.BCEWithLogitsLoss()
rng = np.random.default_rng(5)


def forward_d(real, fake, ones, zeros):
    return criterion(discriminator(real), ones) + criterion(discriminator(fake), zeros)


def forward_g(z, ones):
    return criterion(discriminator(generator(z)), ones)


grad_d = ms.value_and_grad(forward_d, None, of_discriminator.parameters)
grad_g = ms.value_and_grad(forward_g, None, of_generator.parameters)
generator.set_train()
discriminator.set_train()
for step in range(8):
    real = ms.Tensor(rng.normal(size=(10, 6)).astype("float32"))
    ones, zeros = ops.ones((10, 1), ms.float32), ops.zeros((10, 1), ms.float32)
    z = ops.randn(10, 4)

    fake = ops.stop_gradient(generator(z))
    loss_d, grads = grad_d(real, fake, ones, zeros)
    of_discriminator(grads)

    loss_g, grads = grad_g(z, ones)
    of_generator(grads)
    print(step, loss_d, loss_g)
