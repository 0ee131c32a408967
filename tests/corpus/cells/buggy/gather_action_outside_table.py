# case: index-out-of-range-gather-action-outside-table
# kind: buggy
# expect: index-out-of-range
# raises: RuntimeError
# line: chosen = q_net(state).gather(1, action)
# style: Q-learning update, actions coded 1..4 for a network with 4 outputs
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
states, actions, rewards = torch.randn(300, 5), torch.randint(1, 5, (300, 1)), torch.randn(300, 1)
q_net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
# --- cell ---
for update in range(10):
    pick = torch.randint(0, 300, (64,))
    state, action, reward = states[pick], actions[pick], rewards[pick]
    chosen = q_net(state).gather(1, action)
    loss = nn.functional.mse_loss(chosen, reward)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
