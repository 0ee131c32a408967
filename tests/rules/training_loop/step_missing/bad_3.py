"""One of two optimizers is forgotten."""

# expect-line: loss.backward()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
encoder, head = nn.Linear(8, 16), nn.Linear(16, 1)
encoder_opt = torch.optim.SGD(encoder.parameters(), lr=0.01)
head_opt = torch.optim.SGD(head.parameters(), lr=0.01)
inputs = torch.randn(64, 8)

for step in range(20):
    encoder_opt.zero_grad()
    head_opt.zero_grad()
    loss = F.mse_loss(head(encoder(inputs).tanh()), inputs[:, :1])
    loss.backward()
    head_opt.step()
