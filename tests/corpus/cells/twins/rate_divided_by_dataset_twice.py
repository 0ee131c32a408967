# case: update-too-small-rate-divided-by-dataset-twice-repaired
# kind: healthy
# forbid: *
# style: learning rate divided by the number of samples although the loss is a mean
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y).float().unsqueeze(1)
model = nn.Sequential(nn.Linear(30, 24), nn.Tanh(), nn.Linear(24, 1))
# --- cell ---
base = 0.05
optimizer = torch.optim.SGD(model.parameters(), lr=base)
curve = []
for it in range(50):
    optimizer.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(model(X), y)
    loss.backward()
    optimizer.step()
    curve.append(loss.item())
print(curve[0], curve[-1])
