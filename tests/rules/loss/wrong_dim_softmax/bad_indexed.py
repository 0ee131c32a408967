"""A cross-entropy written by hand: the probability of each sample's class is gathered, with an index for each row."""

# expect-line: probabilities = torch.softmax(policy(states), dim=0)
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

for step in range(20):
    states, actions = torch.randn(32, 4), torch.randint(0, 3, (32, 1))
    probabilities = torch.softmax(policy(states), dim=0)
    loss = -torch.log(probabilities[torch.arange(32), actions[:, 0]] + 1e-8).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
