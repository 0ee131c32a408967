"""An actor and a critic on one body: a reset between the two backward passes throws the actor's gradients away."""

# expect-line: net.zero_grad()
import torch
from torch import nn

torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.policy = nn.Linear(16, 2)
        self.value = nn.Linear(16, 1)

    def forward(self, state):
        hidden = self.body(state)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for update in range(30):
    state = torch.randn(32, 4)
    logits, value = net(state)
    chosen = torch.distributions.Categorical(logits=logits)
    action = chosen.sample()
    reward = (action == (state[:, 0] > 0)).float()
    actor_loss = -(chosen.log_prob(action) * (reward - value).detach()).mean()
    critic_loss = (reward - value).pow(2).mean()
    opt.zero_grad()
    actor_loss.backward(retain_graph=True)
    net.zero_grad()
    critic_loss.backward()
    opt.step()
