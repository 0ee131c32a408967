"""The graphs of an episode are kept until its one backward."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

for episode in range(8):
    log_probs, rewards = [], []
    for t in range(12):
        choice = torch.distributions.Categorical(logits=policy(torch.randn(4)))
        action = choice.sample()
        log_probs.append(choice.log_prob(action))
        rewards.append(float(action))
    optimizer.zero_grad()
    loss = -(torch.stack(log_probs) * sum(rewards)).mean()
    loss.backward()
    optimizer.step()
