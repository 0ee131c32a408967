# case: healthy-swa-with-update-bn
# kind: healthy
# forbid: *
# style: stochastic weight averaging with AveragedModel, SWALR and update_bn
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=100, shuffle=True)
net = nn.Sequential(nn.Linear(64, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 10))
# --- cell ---
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
swa = AveragedModel(net)
swa_schedule = SWALR(opt, swa_lr=0.05, anneal_epochs=2)
for epoch in range(6):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    if epoch >= 3:
        swa.update_parameters(net)
        swa_schedule.step()
    print(epoch, loss.item())
update_bn(loader, swa)
swa.eval()
with torch.no_grad():
    accuracy = sum((swa(x).argmax(1) == y).sum().item() for x, y in loader) / len(d.target)
print(accuracy)
