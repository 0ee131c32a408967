"""Both tables of a product begin at zero: each one's gradient is the other, and only the biases learn."""

# expect-module: rating.user
import torch
from torch import nn

torch.manual_seed(0)


class Rating(nn.Module):
    def __init__(self, users, items):
        super().__init__()
        self.user, self.item = nn.Embedding(users, 8), nn.Embedding(items, 8)
        self.user_bias, self.item_bias = nn.Embedding(users, 1), nn.Embedding(items, 1)
        for table in self.children():
            nn.init.zeros_(table.weight)

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(1) + (self.user_bias(user) + self.item_bias(item))[:, 0]


rating = Rating(40, 30)
optimizer = torch.optim.Adam(rating.parameters(), lr=0.01)
user, item = torch.randint(40, (1280,)), torch.randint(30, (1280,))
stars = (torch.randn(40, 3)[user] * torch.randn(30, 3)[item]).sum(1) + 3

for epoch in range(2):
    for part in torch.randperm(1280).split(64):
        optimizer.zero_grad()
        nn.functional.mse_loss(rating(user[part], item[part]), stars[part]).backward()
        optimizer.step()
