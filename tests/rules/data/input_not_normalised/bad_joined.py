"""Ages and incomes in their own units stand beside the embedding of an occupation."""

# expect-module: model.mlp.0
import torch
from torch import nn

torch.manual_seed(0)
job, age, income = torch.randint(0, 8, (256,)), torch.randint(18, 80, (256, 1)).float(), torch.rand(256, 1) * 9e4


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.job = nn.Embedding(8, 4)
        self.mlp = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, job, *numbers):
        return self.mlp(torch.cat([self.job(job), *numbers], 1)).squeeze(1)


model = Table()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
target = (income[:, 0] > 4e4).float()

for epoch in range(2):
    for i in torch.randperm(256).split(32):
        loss = nn.functional.binary_cross_entropy_with_logits(model(job[i], age[i], income[i]), target[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
