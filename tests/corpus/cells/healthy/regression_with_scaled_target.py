# case: healthy-regression-with-scaled-target
# kind: healthy
# forbid: *
# style: StandardScaler for X and y, Huber loss, inverse transform for the report
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
Xtr, Xte, ytr, yte = train_test_split(X, y.reshape(-1, 1), test_size=0.2, random_state=0)
sx, sy = StandardScaler().fit(Xtr), StandardScaler().fit(ytr)
train = TensorDataset(torch.tensor(sx.transform(Xtr)).float(), torch.tensor(sy.transform(ytr)).float())
x_test = torch.tensor(sx.transform(Xte)).float()
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
# --- cell ---
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-4)
huber = nn.HuberLoss()
for epoch in range(10):
    model.train()
    for xb, yb in DataLoader(train, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = huber(model(xb), yb)
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    predicted = sy.inverse_transform(model(x_test).numpy())
print("MAE", abs(predicted - yte).mean())
