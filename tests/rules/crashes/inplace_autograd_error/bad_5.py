"""A state is carried from batch to batch, and retain_graph=True was added against the first error."""

# expect-line: loss.backward(retain_graph=True)
import torch
from torch import nn

torch.manual_seed(0)
x, goal = torch.randn(6, 4, 5, 3), torch.randn(6, 4, 5, 1)
rnn, head = nn.RNN(3, 8, batch_first=True), nn.Linear(8, 1)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-2)
state = None
for piece, wanted in zip(x, goal):
    out, state = rnn(piece, state)
    loss = nn.functional.mse_loss(head(out), wanted)
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
