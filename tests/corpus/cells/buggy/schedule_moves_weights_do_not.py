# case: step-missing-schedule-moves-weights-do-not
# kind: buggy
# expect: step-missing
# allow: loss-not-decreasing, plateau, scheduler-before-optimizer, params-unchanged, missing-zero-grad, uniform-prediction
# line: loss.backward()
# style: plain loop on breast cancer, optimizer built and cleared, never stepped
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(axis=0)) / X.std(axis=0)).float()
y = torch.tensor(y).float()
loader = DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True)
tumour_net = nn.Sequential(nn.Linear(30, 20), nn.SiLU(), nn.Linear(20, 1))
# --- cell ---
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(tumour_net.parameters(), lr=0.005)
for epoch in range(5):
    epoch_loss = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(tumour_net(inputs).squeeze(-1), targets)
        loss.backward()
        epoch_loss += loss.item()
    print(f"epoch {epoch}: {epoch_loss / len(loader):.4f}")
