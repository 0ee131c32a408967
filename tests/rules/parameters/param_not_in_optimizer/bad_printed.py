"""Only the decoder is given to the optimizer, and the length of its gradients is printed."""

# expect-module: encoder.0
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(16, 4), nn.Tanh())
decoder = nn.Linear(4, 16)
optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-2)
x = torch.randn(64, 16)

for step in range(8):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(decoder(encoder(x)), x)
    loss.backward()
    optimizer.step()
    length = decoder.weight.grad.norm().item()
