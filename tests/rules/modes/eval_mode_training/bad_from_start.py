"""A model that was loaded for prediction is trained further."""

# expect-line: model.eval()
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(8, 2)

    def forward(self, tokens):
        return self.head(self.drop(self.embed(tokens)).mean(1))


torch.manual_seed(0)
model = Model()
model.eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
tokens, labels = torch.randint(0, 20, (64, 5)), torch.randint(0, 2, (64,))

for step in range(6):
    loss = nn.functional.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
