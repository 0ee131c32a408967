# case: target-with-graph-value-target-keeps-its-graph-repaired
# kind: healthy
# forbid: *
# style: temporal-difference prediction on a random walk, agent class with update method, Adam
# --- setup ---
import torch
from torch import nn

torch.manual_seed(7)
NUM_STATES, GAMMA = 19, 0.97


def walk(length):
    place = torch.randint(NUM_STATES, (length,))
    after = place + 2 * torch.randint(2, (length,)) - 1
    reward = (after >= NUM_STATES).float() - (after < 0).float()
    over = ((after < 0) | (after >= NUM_STATES)).float()
    return place, reward, after.clamp(0, NUM_STATES - 1), over


class Values(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Embedding(NUM_STATES, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, place):
        return self.body(place).squeeze(-1)


# --- cell ---
values = Values()
optimizer = torch.optim.Adam(values.parameters(), lr=5e-3)
criterion = nn.MSELoss()
for iteration in range(150):
    place, reward, after, over = walk(64)
    value = values(place)
    target = reward + GAMMA * (1 - over) * values(after).detach()
    loss = criterion(value, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(values(torch.arange(NUM_STATES)).tolist())
