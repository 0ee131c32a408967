"""A model gives several tensors, and of all that is made from them only the second term of the loss is kept."""

# expect-line: divergences.append(divergence)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.rand(256, 12)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 6))
        self.decoder = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 12))

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(code), mean, log_variance


net = Autoencoder()
optimizer = torch.optim.Adam(net.parameters(), lr=0.005)
divergences = []
for step in range(40):
    rows, mean, log_variance = net(x)
    divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(1).mean()
    loss = F.mse_loss(rows, x, reduction="sum") / len(x) + divergence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    divergences.append(divergence)
