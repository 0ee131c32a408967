# case: healthy-returns-of-a-policy-unscaled
# kind: healthy
# forbid: *
# style: actor and critic in one loss and one optimizer; the critic learns returns as they are, and they grow
# --- setup ---
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Walk:
    """Stay on a line as long as you can: the further from its middle, the stronger the wind."""

    def reset(self):
        self.place, self.left = 0.2 * torch.randn(1), 200
        return self.place

    def step(self, action):
        self.place = 1.01 * self.place + 0.1 * (2 * action - 1) + 0.02 * torch.randn(1)
        self.left -= 1
        return self.place, 1.0, bool(self.place.abs() > 2) or not self.left
# --- cell ---
body = nn.Sequential(nn.Linear(1, 32), nn.Tanh())
actor, critic = nn.Linear(32, 2), nn.Linear(32, 1)
for head in (actor, critic):
    nn.init.orthogonal_(head.weight, 0.01)
    nn.init.zeros_(head.bias)
optimizer = torch.optim.Adam([*body.parameters(), *actor.parameters(), *critic.parameters()], lr=1e-3)
walk, lengths = Walk(), []
for episode in range(30):
    places, actions, rewards, place, done = [], [], [], walk.reset(), False
    while not done:
        with torch.no_grad():
            action = Categorical(logits=actor(body(place))).sample()
        places.append(place)
        actions.append(action)
        place, reward, done = walk.step(action)
        rewards.append(reward)
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.99 * total
        returns.insert(0, total)
    returns, features = torch.tensor(returns), body(torch.stack(places))
    values = critic(features).squeeze(1)
    policy = Categorical(logits=actor(features))
    advantages = returns - values.detach()
    loss = -(policy.log_prob(torch.stack(actions)) * advantages).mean() + 0.5 * F.mse_loss(values, returns)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*body.parameters(), *actor.parameters(), *critic.parameters()], 0.5)
    optimizer.step()
    lengths.append(len(rewards))
print(sum(lengths[:4]) / 4, sum(lengths[-4:]) / 4)
