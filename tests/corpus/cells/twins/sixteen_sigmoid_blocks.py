# case: vanishing-gradient-sixteen-sigmoid-blocks-repaired
# kind: healthy
# forbid: *
# style: functional sigmoid after each Linear of a ModuleList, regression
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float()


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 24)
        self.middle = nn.ModuleList(nn.Linear(24, 24) for _ in range(14))
        self.last = nn.Linear(24, 1)
        nn.init.normal_(self.last.weight, std=0.01)
        nn.init.zeros_(self.last.bias)

    def forward(self, x):
        x = torch.sigmoid(self.first(x))
        for layer in self.middle:
            x = x + torch.relu(layer(x)) / 14
        return self.last(x).squeeze(1)
# --- cell ---
deep = Deep()
adam = torch.optim.SGD(deep.parameters(), lr=0.02)
for it in range(60):
    adam.zero_grad()
    loss = nn.functional.mse_loss(deep(X), y)
    loss.backward()
    adam.step()
print(loss.item())
