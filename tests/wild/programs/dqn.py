"""Deep Q-learning with a target network and a replay memory, on a cart that must be balanced."""

import math
import random
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
random.seed(0)


class Pole:
    def reset(self):
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        self.steps = 0
        return self.state

    def step(self, action):
        x, v, angle, spin = self.state
        force = 10.0 if action else -10.0
        temp = (force + 0.05 * spin**2 * math.sin(angle)) / 1.1
        turn = (9.8 * math.sin(angle) - math.cos(angle) * temp) / (0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
        move = temp - 0.05 * turn * math.cos(angle) / 1.1
        self.state = [x + 0.02 * v, v + 0.02 * move, angle + 0.02 * spin, spin + 0.02 * turn]
        self.steps += 1
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21 or self.steps >= 200
        return self.state, 1.0, done


def make_net():
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))


policy_net, target_net = make_net(), make_net()
target_net.load_state_dict(policy_net.state_dict())
target_net.eval()
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-3)
memory, pole, epsilon = deque(maxlen=2000), Pole(), 1.0


def optimize():
    if len(memory) < 64:
        return
    states, actions, rewards, following, done = zip(*random.sample(memory, 64), strict=True)
    q = policy_net(torch.tensor(states)).gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = target_net(torch.tensor(following)).max(1).values
    expected = torch.tensor(rewards) + 0.99 * best * (1 - torch.tensor(done, dtype=torch.float32))
    loss = F.smooth_l1_loss(q, expected)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    with torch.no_grad():
        for target, source in zip(target_net.parameters(), policy_net.parameters(), strict=True):
            target.mul_(0.995).add_(source, alpha=0.005)


for episode in range(25):
    state, done = pole.reset(), False
    while not done:
        if random.random() < epsilon:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = policy_net(torch.tensor(state)).argmax().item()
        following, reward, done = pole.step(action)
        memory.append((state, action, reward, following, done))
        state = following
        optimize()
    epsilon = max(0.05, epsilon * 0.9)
result = [*policy_net.state_dict().values(), *target_net.state_dict().values()]
