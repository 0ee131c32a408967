# case: functional-dropout-in-eval-dropout2d-on-feature-maps-repaired
# kind: healthy
# forbid: *
# style: spatial dropout by function in a CNN, evaluation in separate function
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
x, t = torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target)
train = DataLoader(TensorDataset(x[:1300], t[:1300]), batch_size=65, shuffle=True)
test = DataLoader(TensorDataset(x[1300:], t[1300:]), batch_size=100)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 12, 3)
        self.fc = nn.Linear(12 * 9, 10)

    def forward(self, x):
        maps = nn.functional.dropout2d(torch.relu(self.conv(x)), p=0.25, training=self.training)
        return self.fc(nn.functional.max_pool2d(maps, 2).flatten(1))


@torch.no_grad()
def score(model):
    model.eval()
    right = sum((model(a).argmax(1) == b).sum().item() for a, b in test)
    model.train()
    return right / len(test.dataset)
# --- cell ---
model = Net()
adam = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(3):
    for a, b in train:
        adam.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        adam.step()
    print(epoch, loss.item(), score(model))
