# case: missing-zero-grad-trainer-object-clears-once-repaired
# kind: healthy
# forbid: *
# style: Trainer class with dict batches; zero_grad stands before the loop
# --- setup ---
import torch
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class WineDataset(Dataset):
    def __init__(self):
        raw = load_wine()
        self.x = torch.tensor(StandardScaler().fit_transform(raw.data), dtype=torch.float32)
        self.y = torch.tensor(raw.target)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return {"features": self.x[index], "label": self.y[index]}


class Trainer:
    def __init__(self, model, loader, lr=0.02):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()
        self.log = []

    def run(self, epochs):
        for epoch in range(epochs):
            for batch in self.loader:
                self.optimizer.zero_grad()
                batch_loss = self.criterion(self.model(batch["features"]), batch["label"])
                batch_loss.backward()
                self.optimizer.step()
                self.log.append(batch_loss.item())
        return self
# --- cell ---
wine_net = nn.Sequential(nn.Linear(13, 24), nn.GELU(), nn.Linear(24, 3))
trainer = Trainer(wine_net, DataLoader(WineDataset(), batch_size=16, shuffle=True)).run(epochs=6)
print(trainer.log[-3:])
