# case: dropout-before-loss-logits-repaired
# kind: healthy
# forbid: *
# style: convolutional network for digits, one dropout layer used behind every layer
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16).float().view(-1, 1, 8, 8), torch.tensor(y)
loader = DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.hidden, self.out = nn.Linear(16 * 16, 64), nn.Linear(64, 10)
        self.drop = nn.Dropout(0.25)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv(x)), 2)
        x = self.drop(torch.relu(self.hidden(x.flatten(1))))
        return self.out(x)
# --- cell ---
classifier = Classifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(classifier.parameters(), lr=1e-3)
for epoch in range(3):
    classifier.train()
    for xb, yb in loader:
        loss = criterion(classifier(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
