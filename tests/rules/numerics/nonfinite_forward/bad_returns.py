"""The returns of an episode of one step have no deviation, and the episode cannot be played again."""

# expect-line: returns = (returns - returns.mean()) / (returns.std() + 1e-8)
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
dice = torch.Generator().manual_seed(3)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def episode(length):
    chances = []
    for _ in range(length):
        choice = Categorical(logits=policy(torch.randn(4, generator=dice)))
        chances.append(choice.log_prob(choice.sample()))
    return torch.stack(chances), torch.rand(length, generator=dice)


for length in (4, 3, 5, 2, 4, 1):
    chances, rewards = episode(length)
    returns = rewards.flip(0).cumsum(0).flip(0)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(chances * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
