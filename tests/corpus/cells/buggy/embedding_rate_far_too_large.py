# case: update-too-large-embedding-rate-far-too-large
# kind: buggy
# expect: update-too-large, lr-too-high
# allow: exploding-gradient, loss-not-decreasing, saturated-activation, uniform-prediction, input-not-normalised
# style: RMSprop without momentum, one group with lr 2.0 and strong decay
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
words = torch.randint(0, 30, (600, 8))
mood = (words % 3 == 0).sum(1).float().sub(2.7).unsqueeze(1)
table = nn.Embedding(30, 6)
reader = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
ratios = []
# --- cell ---
opt = torch.optim.RMSprop([
    {"params": reader.parameters(), "lr": 1e-3},
    {"params": table.parameters(), "lr": 2.0, "weight_decay": 0.0},
])
for step in range(60):
    rows = torch.randint(0, 600, (32,))
    table.weight.data.clamp_(-1, 1)
    before = table.weight.detach().clone()
    loss = nn.functional.mse_loss(reader(table(words[rows]).mean(1)), mood[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    ratios.append(((table.weight.detach() - before).norm() / before.norm()).item())
print(loss.item(), sum(ratios) / len(ratios))
