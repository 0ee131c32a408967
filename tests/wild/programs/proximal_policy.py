"""PPO: several passes over each rollout, a clipped ratio, an entropy bonus and a shared body."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
        self.actor, self.critic = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, x):
        hidden = self.body(x)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


agent = ActorCritic()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
for update in range(15):
    with torch.no_grad():
        states = torch.randn(256, 6)
        chances, values = agent(states)
        actions = chances.sample()
        old = chances.log_prob(actions)
        rewards = (actions == states[:, :3].argmax(1)).float()
        advantages = rewards - values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(4):
        for part in torch.randperm(256).split(64):
            chances, values = agent(states[part])
            ratio = (chances.log_prob(actions[part]) - old[part]).exp()
            clipped = ratio.clamp(0.8, 1.2) * advantages[part]
            policy_loss = -torch.min(ratio * advantages[part], clipped).mean()
            value_loss = 0.5 * (rewards[part] - values).pow(2).mean()
            loss = policy_loss + 0.5 * value_loss - 0.01 * chances.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
result = list(agent.state_dict().values())
