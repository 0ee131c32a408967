# case: healthy-siamese-triplet-margin
# kind: healthy
# forbid: *
# style: siamese network with TripletMarginLoss
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
by_class = [X[y == c] for c in range(10)]
tower = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 8))


def pick(classes):
    return torch.stack([by_class[c][torch.randint(0, len(by_class[c]), ()).item()] for c in classes])
# --- cell ---
criterion = nn.TripletMarginLoss(margin=1.0)
opt = torch.optim.Adam(tower.parameters(), lr=3e-3)
losses = []
for step in range(80):
    c = torch.randint(0, 10, (32,)).tolist()
    o = [(k + torch.randint(1, 10, ()).item()) % 10 for k in c]
    loss = criterion(tower(pick(c)), tower(pick(c)), tower(pick(o)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
print(losses[0], losses[-1])
