import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: outputs, hidden = rnn(batch, hidden)
rnn, head = nn.GRU(3, 8, batch_first=True), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-2)
hidden = None
for batch in torch.randn(6, 4, 5, 3):
    optimizer.zero_grad()
    outputs, hidden = rnn(batch, hidden)
    loss = (head(outputs[:, -1]) - batch.mean((1, 2))[:, None]).square().mean()
    loss.backward()
    optimizer.step()
