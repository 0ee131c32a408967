# case: healthy-dqn-target-network
# kind: healthy
# forbid: *
# style: DQN with replay buffer, target network copied every 20 updates, clipped gradients
# --- setup ---
import copy
import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
q = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
q_target = copy.deepcopy(q)
q_target.requires_grad_(False)
buffer = deque(maxlen=1000)


def play(state, action):
    nxt = state + torch.tensor([0.3, 0.0, 0.0]) * (1 if action else -1)
    return nxt, 1.0 if nxt[0].abs() < state[0].abs() else -1.0
# --- cell ---
optimizer = torch.optim.Adam(q.parameters(), lr=3e-3)
state, td = torch.randn(3), []
for t in range(200):
    with torch.no_grad():
        action = random.randrange(2) if random.random() < max(0.1, 1 - t / 150) else q(state).argmax().item()
    nxt, reward = play(state, action)
    buffer.append((state, action, reward, nxt))
    state = torch.randn(3) if t % 10 == 9 else nxt
    if len(buffer) < 32:
        continue
    s, a, r, n = zip(*random.sample(buffer, 32))
    with torch.no_grad():
        goal = torch.tensor(r) + 0.5 * q_target(torch.stack(n)).amax(1)
    value = q(torch.stack(s)).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(q.parameters(), 10.0)
    optimizer.step()
    td.append(loss.item())
    if t % 20 == 0:
        q_target.load_state_dict(q.state_dict())
print(td[0], td[-1])
