# case: healthy-domain-adversarial-reversal
# kind: healthy
# forbid: *
# style: gradient reversal Function, domain classifier against the features
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)
target_X = X + 0.4 * torch.randn(13)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -0.3 * grad


features, label_head, domain_head = nn.Sequential(nn.Linear(13, 24), nn.ReLU()), nn.Linear(24, 3), nn.Linear(24, 2)
# --- cell ---
opt = torch.optim.Adam([*features.parameters(), *label_head.parameters(), *domain_head.parameters()], lr=5e-3)
task = []
for step in range(80):
    s, t = torch.randint(0, 178, (32,)), torch.randint(0, 178, (32,))
    fs, ft = features(X[s]), features(target_X[t])
    class_loss = nn.functional.cross_entropy(label_head(fs), y[s])
    domain = torch.cat([torch.zeros(32), torch.ones(32)]).long()
    domain_loss = nn.functional.cross_entropy(domain_head(Reverse.apply(torch.cat([fs, ft]))), domain)
    opt.zero_grad()
    (class_loss + domain_loss).backward()
    opt.step()
    task.append(class_loss.item())
print(task[0], task[-1], domain_loss.item())
