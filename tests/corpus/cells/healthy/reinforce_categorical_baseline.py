# case: healthy-reinforce-categorical-baseline
# kind: healthy
# forbid: *
# style: REINFORCE with a running baseline, one optimizer, loss may rise
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn

torch.manual_seed(0)
iris = load_iris()
contexts = torch.tensor(iris.data).float()
contexts = (contexts - contexts.mean(0)) / contexts.std(0)
best_arm = torch.tensor(iris.target)
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
# --- cell ---
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
baseline, rewards = 0.0, []
for step in range(150):
    rows = torch.randint(0, 150, (16,))
    dist = torch.distributions.Categorical(logits=policy(contexts[rows]))
    arms = dist.sample()
    reward = (arms == best_arm[rows]).float()
    loss = -(dist.log_prob(arms) * (reward - baseline)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    rewards.append(reward.mean().item())
print(sum(rewards[:20]) / 20, sum(rewards[-20:]) / 20)
