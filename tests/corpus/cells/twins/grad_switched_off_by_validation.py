# case: no-grad-training-grad-switched-off-by-validation-repaired
# kind: healthy
# forbid: *
# style: validate() switches gradients off globally and never on again; second epoch crashes
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(0)) / X.std(0)
parts = train_test_split(X, y, test_size=0.3, random_state=0)
x_train, x_valid = (torch.tensor(p, dtype=torch.float32) for p in parts[:2])
y_train, y_valid = (torch.tensor(p, dtype=torch.long) for p in parts[2:])
# --- cell ---
def validate(model):
    model.eval()
    with torch.no_grad():
        return (model(x_valid).argmax(1) == y_valid).float().mean().item()


model = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    model.train()
    for rows in torch.randperm(len(x_train)).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x_train[rows]), y_train[rows])
        loss.backward()
        opt.step()
    print(epoch, validate(model))
