import torch
from torch import nn

torch.manual_seed(0)
table = nn.Embedding(5000, 4)  # few rows of it are used
head = nn.Linear(4, 2)
model = nn.Sequential(table, head)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
words = torch.randint(0, 50, (128,))
for step in range(30):
    opt.zero_grad()
    nn.functional.cross_entropy(model(words), words % 2).backward()
    opt.step()
