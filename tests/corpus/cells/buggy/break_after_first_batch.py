# case: constant-batch-break-after-first-batch
# kind: buggy
# expect: constant-batch
# allow: overfitting, unshuffled-loader
# line: for x, y in train_loader
# style: break kept from a smoke test, unshuffled loader restarted each step
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
train_loader = DataLoader(
    TensorDataset(torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)), batch_size=40
)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
# --- cell ---
def run_epoch():
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        break
    return loss.item()


print([round(run_epoch(), 3) for _ in range(30)])
