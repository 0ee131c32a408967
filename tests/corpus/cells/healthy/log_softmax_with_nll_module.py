# case: healthy-log-softmax-with-nll-module
# kind: healthy
# forbid: *
# style: nn.LogSoftmax layer and nn.NLLLoss, convolutional Sequential
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target)), 64, shuffle=True)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 10), nn.LogSoftmax(dim=1))
# --- cell ---
nll = nn.NLLLoss()
opt = torch.optim.Adagrad(net.parameters(), lr=2e-2)
for epoch in range(3):
    for x, y in dl:
        opt.zero_grad()
        loss = nll(net(x), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
