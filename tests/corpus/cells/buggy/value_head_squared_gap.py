# case: loss-broadcast-value-head-squared-gap
# kind: buggy
# expect: loss-broadcast
# allow: plateau, uniform-prediction, loss-not-decreasing, overfitting
# line: gap = self.value(obs) - returns
# style: value-function regression in a class, difference squared in two lines
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
observations = torch.randn(640, 6)
all_returns = observations @ torch.randn(6) + 0.1 * torch.randn(640)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.value = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))

    def loss(self, obs, returns):
        gap = self.value(obs) - returns
        return gap.square().mean()
# --- cell ---
critic = Critic()
adam = torch.optim.Adam(critic.parameters(), lr=5e-3)
for update in range(80):
    rows = torch.randint(0, 640, (64,))
    value_loss = critic.loss(observations[rows], all_returns[rows])
    adam.zero_grad()
    value_loss.backward()
    adam.step()
print(value_loss.item())
