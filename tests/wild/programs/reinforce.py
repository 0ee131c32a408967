"""REINFORCE with a learned baseline on a walk along a corridor."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
LENGTH = 8
policy = nn.Sequential(nn.Linear(LENGTH, 32), nn.Tanh(), nn.Linear(32, 2))
value = nn.Sequential(nn.Linear(LENGTH, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=5e-3)


def observe(place):
    return torch.eye(LENGTH)[place]


for episode in range(150):
    place, log_probs, values, rewards = 2, [], [], []
    for _ in range(20):
        state = observe(place)
        chances = Categorical(logits=policy(state))
        action = chances.sample()
        log_probs.append(chances.log_prob(action))
        values.append(value(state).squeeze())
        place = max(0, place + (1 if action.item() else -1))
        rewards.append(1.0 if place == LENGTH - 1 else -0.05)
        if place == LENGTH - 1:
            break
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.95 * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    baseline = torch.stack(values)
    advantage = returns - baseline.detach()
    loss = -(torch.stack(log_probs) * advantage).sum() + 0.5 * (returns - baseline).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
result = [*policy.state_dict().values(), *value.state_dict().values()]
