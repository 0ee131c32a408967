"""A codebook is moved to the mean of what it stands for: the forward puts a new parameter in its place."""

# sound
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Quantizer(nn.Module):
    def __init__(self, num_codes, dim, decay=0.9):
        super().__init__()
        self.embedding = nn.Embedding(num_codes, dim)
        self.decay = decay
        self.register_buffer("size", torch.ones(num_codes))
        self.mean = nn.Parameter(self.embedding.weight.detach().clone())

    def forward(self, z):
        distances = torch.cdist(z.detach(), self.embedding.weight.detach())
        codes = F.one_hot(distances.argmin(1), self.size.numel()).float()
        quantized = codes @ self.embedding.weight
        if self.training:
            self.size = self.size * self.decay + (1 - self.decay) * codes.sum(0)
            self.mean = nn.Parameter(self.mean * self.decay + (1 - self.decay) * codes.t() @ z)
            self.embedding.weight = nn.Parameter(self.mean / self.size.clamp(min=1e-3).unsqueeze(1))
        commitment = F.mse_loss(quantized.detach(), z)
        return z + (quantized - z).detach(), commitment


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.quantizer, self.decoder = nn.Linear(16, 4), Quantizer(8, 4), nn.Linear(4, 16)

    def forward(self, x):
        quantized, commitment = self.quantizer(self.encoder(x))
        return self.decoder(quantized), commitment


centres = torch.randn(8, 16)
model = Coder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(120):
    x = centres[torch.randint(8, (64,))] + 0.1 * torch.randn(64, 16)
    found, commitment = model(x)
    loss = F.mse_loss(found, x) + 0.25 * commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
