# case: healthy-actor-critic-bandit
# kind: healthy
# forbid: *
# style: actor-critic on a small synthetic environment, two optimizers, log_prob and entropy
# --- setup ---
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class LineWorld:
    def reset(self):
        self.x, self.t = torch.randn(()) * 2, 0
        return self.obs()

    def obs(self):
        return torch.stack([self.x, self.x.abs()])

    def step(self, action):
        self.x = self.x + (0.5 if action == 1 else -0.5)
        self.t += 1
        return self.obs(), -self.x.abs().item(), self.t >= 12


actor = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
critic = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
# --- cell ---
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
env, returns = LineWorld(), []
for episode in range(50):
    s, done, total = env.reset(), False, 0.0
    log_probs, values, rewards, entropies = [], [], [], []
    while not done:
        dist = Categorical(logits=actor(s))
        a = dist.sample()
        log_probs.append(dist.log_prob(a))
        entropies.append(dist.entropy())
        values.append(critic(s).squeeze())
        s, r, done = env.step(a.item())
        rewards.append(r)
        total += r
    G, targets = 0.0, []
    for r in reversed(rewards):
        G = r + 0.9 * G
        targets.insert(0, G)
    targets, values = torch.tensor(targets), torch.stack(values)
    advantage = (targets - values).detach()
    actor_loss = -(torch.stack(log_probs) * advantage).mean() - 0.01 * torch.stack(entropies).mean()
    critic_loss = nn.functional.smooth_l1_loss(values, targets)
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    returns.append(total)
print(sum(returns[:10]) / 10, sum(returns[-10:]) / 10)
