import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
rnn, head = nn.GRU(3, 8, batch_first=True), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-2)
hidden = torch.zeros(1, 4, 8)
for batch in torch.randn(8, 4, 5, 3):
    optimizer.zero_grad()
    outputs, hidden = rnn(batch, hidden.detach())
    loss = (head(outputs[:, -1]) - batch.mean((1, 2))[:, None]).square().mean()
    loss.backward(retain_graph=True)  # two losses on one graph
    (1e-3 * outputs.square().mean()).backward()
    optimizer.step()
