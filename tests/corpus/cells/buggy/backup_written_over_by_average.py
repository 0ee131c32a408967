# case: aliased-state-dict-backup-written-over-by-average
# kind: buggy
# expect: aliased-state-dict
# line: backup = net.state_dict()
# style: averaged weights swapped in for each evaluation, diabetes regression, AdamW
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(5)
data = load_diabetes()
x = torch.tensor(data.data * 21, dtype=torch.float32)
y = torch.tensor((data.target - 152) / 77, dtype=torch.float32).view(-1, 1)
net = nn.Sequential(nn.Linear(10, 32), nn.ELU(), nn.Linear(32, 1))
# --- cell ---
average = {name: value.clone() for name, value in net.state_dict().items()}
optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
for epoch in range(12):
    for rows in torch.randperm(350).split(50):
        loss = nn.functional.mse_loss(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for name, value in net.state_dict().items():
            average[name].lerp_(value, 0.05)
    backup = net.state_dict()
    net.load_state_dict(average)
    with torch.no_grad():
        print(epoch, nn.functional.mse_loss(net(x[350:]), y[350:]).item())
    net.load_state_dict(backup)
