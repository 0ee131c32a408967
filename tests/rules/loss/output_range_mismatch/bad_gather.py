"""The values of actions end in a tanh, the chosen ones are gathered, and their targets are about 10."""

# expect-module: net
import torch
from torch import nn

torch.manual_seed(0)


class Values(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        return torch.tanh(self.out(torch.relu(self.hidden(x))))


net = Values()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

for step in range(20):
    states, actions = torch.randn(32, 4), torch.randint(0, 2, (32, 1))
    chosen = net(states).gather(1, actions).squeeze(1)
    loss = nn.functional.mse_loss(chosen, 10 + states[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
