# case: lr-too-high-linear-regression-diverges-repaired
# kind: healthy
# forbid: *
# style: linear regression by SGD, loss grows step by step
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X = torch.tensor(X / X.std(0)).float()
y = torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)
# --- cell ---
model = nn.Linear(10, 1)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(24):
    loss = torch.mean((model(X) - y) ** 2)
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    if epoch % 6 == 0:
        print(epoch, loss.item())
