# case: missing-activation-conv-after-conv-in-forward-repaired
# kind: healthy
# forbid: *
# style: class CNN, relu missing between the convolutions
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
imgs, labels = torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target)


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 16, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = self.conv2(x)
        x = F.max_pool2d(F.relu(x), 2)
        return self.fc(x.flatten(1))
# --- cell ---
cnn = CNN()
adam = torch.optim.Adam(cnn.parameters(), lr=2e-3)
for epoch in range(2):
    for rows in torch.randperm(len(imgs)).split(64):
        adam.zero_grad()
        loss = F.cross_entropy(cnn(imgs[rows]), labels[rows])
        loss.backward()
        adam.step()
    print(epoch, loss.item())
