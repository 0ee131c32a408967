# case: input-not-normalised-salary-next-to-ratio-repaired
# kind: healthy
# forbid: *
# style: synthetic customer table, one column in the ten thousands beside ratios, class model
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
n = 800
salary = 30000 + 12000 * torch.randn(n)
ratio, age = torch.rand(n), torch.randint(18, 80, (n,)).float() / 100
table = torch.stack([salary, ratio, age], 1)
table = (table - table.mean(0)) / table.std(0)
churn = ((ratio + age + 0.1 * torch.randn(n)) > 1.0).float()


class Churn(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(3, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.relu(self.inp(x))).squeeze(1)
# --- cell ---
model = Churn()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(n).split(50):
        loss = nn.functional.binary_cross_entropy_with_logits(model(table[rows]), churn[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
