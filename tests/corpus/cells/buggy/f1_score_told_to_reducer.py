# case: scheduler-mode-f1-score-told-to-reducer
# kind: buggy
# expect: scheduler-mode
# line: self.reducer = ReduceLROnPlateau(self.opt, factor=0.3, patience=0)
# style: trainer class, ReduceLROnPlateau with its defaults is stepped with the macro F1 of a validation set
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
xtr, xva, ytr, yva = train_test_split(X / 16, y, random_state=0, stratify=y)
train = TensorDataset(torch.tensor(xtr).float(), torch.tensor(ytr))
xva = torch.tensor(xva).float()


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
        self.reducer = ReduceLROnPlateau(self.opt, factor=0.3, patience=0)

    def epoch(self, loader):
        self.net.train()
        for xb, yb in loader:
            self.opt.zero_grad()
            F.cross_entropy(self.net(xb), yb).backward()
            self.opt.step()

    @torch.no_grad()
    def score(self):
        self.net.eval()
        return f1_score(yva, self.net(xva).argmax(1).numpy(), average="macro")
# --- cell ---
trainer = Trainer(nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)))
loader = DataLoader(train, batch_size=64, shuffle=True)
for epoch in range(10):
    trainer.epoch(loader)
    f1 = trainer.score()
    trainer.reducer.step(f1)
    print(epoch, round(f1, 3), trainer.opt.param_groups[0]["lr"])
