# case: duplicated-worker-seed-worker-init-with-fixed-seed-repaired
# kind: healthy
# forbid: *
# style: worker_init_fn that seeds every worker alike
# --- setup ---
import numpy as np
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)


class Jitter(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        return torch.tensor(X[i] * 21 + 0.1 * np.random.randn(10)).float(), torch.tensor([(y[i] - 152) / 77]).float()
# --- cell ---
def seed_worker(worker_id):
    np.random.seed((torch.initial_seed() + worker_id) % 2**32)


batches = DataLoader(Jitter(), batch_size=50, shuffle=True, num_workers=2, worker_init_fn=seed_worker)
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    for a, b in batches:
        loss = nn.functional.mse_loss(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
