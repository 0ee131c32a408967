# case: frozen-output-layer-new-head-frozen-by-mistake
# kind: buggy
# expect: frozen-output-layer
# allow: frozen-in-optimizer
# module: classifier
# style: freezing loop written with the condition the wrong way round
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)


class WineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(13, 16), nn.ReLU())
        self.classifier = nn.Linear(16, 3)

    def forward(self, x):
        return self.classifier(self.features(x))
# --- cell ---
net = WineNet()
for name, parameter in net.named_parameters():
    if name.startswith("classifier"):
        parameter.requires_grad = False
opt = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=5e-3)
for epoch in range(40):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(X), y)
    loss.backward()
    opt.step()
print(loss.item())
