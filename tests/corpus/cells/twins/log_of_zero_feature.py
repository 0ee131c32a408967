# case: nonfinite-input-log-of-zero-feature-repaired
# kind: healthy
# forbid: *
# style: log-transformed tabular features with zeros in the dataset, dict batches
# --- setup ---
import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)


class Logged(Dataset):
    def __init__(self, table, target):
        with np.errstate(divide="ignore"):
            table = np.log1p(table)
        table = (table - table.mean(0)) / table.std(0)
        self.table, self.target = torch.tensor(table).float(), torch.tensor(target).float()

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return {"row": self.table[i], "target": self.target[i]}
# --- cell ---
network = nn.Sequential(nn.Linear(30, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
for batch in DataLoader(Logged(X, y), batch_size=32, shuffle=True):
    logit = network(batch["row"]).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(logit, batch["target"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
