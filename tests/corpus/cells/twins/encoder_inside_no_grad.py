# case: detached-subgraph-encoder-inside-no-grad-repaired
# kind: healthy
# forbid: *
# style: convolutional backbone wrapped in no_grad in forward although it is meant to train
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
raw = load_digits()
images = torch.tensor(raw.images / 16, dtype=torch.float32).unsqueeze(1)
loader = DataLoader(TensorDataset(images, torch.tensor(raw.target)), batch_size=64, shuffle=True)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.head = nn.Linear(12 * 16, 10)

    def forward(self, x):
        z = self.backbone(x)
        return self.head(z)
# --- cell ---
clf = Classifier()
optimizer = torch.optim.Adam(clf.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(3):
    for img, lab in loader:
        optimizer.zero_grad()
        loss = loss_fn(clf(img), lab)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
