# case: missing-zero-grad-moons-gan-clears-only-generator-repaired
# kind: healthy
# forbid: *
# style: small GAN, gradients cleared through the wrong optimizer before the discriminator update
# --- setup ---
import torch
from sklearn.datasets import make_moons
from torch import nn

torch.manual_seed(1)
points, _ = make_moons(1500, noise=0.05, random_state=1)
points = torch.tensor(points, dtype=torch.float32)
generator = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
gen_optim = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.99))
critic_optim = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
# --- cell ---
for iteration in range(120):
    real = points[torch.randint(0, len(points), (64,))]
    with torch.no_grad():
        fake = generator(torch.randn(64, 3))
    critic_optim.zero_grad()
    loss_real_fake = bce(critic(real), ones) + bce(critic(fake), zeros)
    loss_real_fake.backward()
    critic_optim.step()

    gen_optim.zero_grad()
    fool = bce(critic(generator(torch.randn(64, 3))), ones)
    fool.backward()
    gen_optim.step()
print(loss_real_fake.item(), fool.item())
