# case: healthy-trainer-with-dict-batches-and-meter
# kind: healthy
# forbid: *
# style: hand-written Trainer, collate to dict, running averages by item(), optimizer built in setup
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
d = load_digits()
train_ix, val_ix = torch.randperm(1797).split([1500, 297])


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n):
        self.total += value * n
        self.count += n

    @property
    def mean(self):
        return self.total / max(1, self.count)


class Digits(Dataset):
    def __init__(self, ix):
        self.ix = ix.tolist()

    def __len__(self):
        return len(self.ix)

    def __getitem__(self, i):
        j = self.ix[i]
        return {"pixels": torch.tensor(d.data[j] / 16).float(), "digit": int(d.target[j])}


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def loop(self, loader, train):
        meter = Meter()
        self.model.train(train)
        with torch.set_grad_enabled(train):
            for batch in loader:
                loss = nn.functional.cross_entropy(self.model(batch["pixels"]), batch["digit"])
                if train:
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                meter.update(loss.item(), len(batch["digit"]))
        return meter.mean


model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
trainer = Trainer(model, torch.optim.AdamW(model.parameters(), lr=3e-3))
# --- cell ---
train_dl = DataLoader(Digits(train_ix), batch_size=64, shuffle=True)
val_dl = DataLoader(Digits(val_ix), batch_size=99)
for epoch in range(3):
    print(epoch, trainer.loop(train_dl, True), trainer.loop(val_dl, False))
