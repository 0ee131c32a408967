# case: softmax-before-cross-entropy-cnn-activation-argument-softmax-repaired
# kind: healthy
# forbid: *
# style: CNN class whose forward ends with Tensor.softmax, F.cross_entropy with label smoothing
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
data = TensorDataset(torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target))


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.out(x.flatten(1))
        return x
# --- cell ---
net = DigitNet()
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(3):
    for batch, target in DataLoader(data, batch_size=64, shuffle=True):
        loss = F.cross_entropy(net(batch), target, label_smoothing=0.05)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
