# case: aliased-state-dict-early-stopping-keeps-no-copy
# kind: buggy
# expect: aliased-state-dict
# line: self.weights = model.state_dict()
# style: early stopping class that keeps the best weights, digits, validation after each epoch
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
images, labels = load_digits(return_X_y=True)
images, labels = torch.tensor(images / 16, dtype=torch.float32), torch.tensor(labels)
train = DataLoader(TensorDataset(images[:1300], labels[:1300]), batch_size=50, shuffle=True)


class Patience:
    def __init__(self, rounds):
        self.rounds, self.left, self.lowest, self.weights = rounds, rounds, float("inf"), None

    def is_over(self, value, model):
        self.left -= 1
        if value < self.lowest:
            self.lowest, self.left = value, self.rounds
            self.weights = model.state_dict()
        return self.left == 0


# --- cell ---
model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Dropout(0.3), nn.Linear(48, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
patience = Patience(2)
for epoch in range(12):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        value = criterion(model(images[1300:]), labels[1300:]).item()
    if patience.is_over(value, model):
        break
model.load_state_dict(patience.weights)
