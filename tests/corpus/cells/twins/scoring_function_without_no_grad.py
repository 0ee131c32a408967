# case: no-grad-evaluation-missing-scoring-function-without-no-grad-repaired
# kind: healthy
# forbid: *
# style: r2 helper called every epoch on several batches, predictions detached afterwards
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float()


@torch.no_grad()
def r2(model, inputs, truth):
    model.eval()
    parts = []
    for batch in inputs.split(40):
        predicted = model(batch).squeeze(1)
        parts.append(predicted.detach())
    model.train()
    return (1 - (torch.cat(parts) - truth).pow(2).mean() / truth.var()).item()
# --- cell ---
model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    for rows in torch.randperm(340).split(34):
        loss = nn.functional.mse_loss(model(X[rows]).squeeze(1), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, r2(model, X[340:], y[340:]))
