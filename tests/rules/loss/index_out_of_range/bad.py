import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: return self.head(self.words(tokens).mean(1))
# expect-module: model.words
tokens = torch.tensor([[1, 2, 3], [4, 5, 10]])


class Bag(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.words, self.head = nn.Embedding(size, 8), nn.Linear(8, 2)

    def forward(self, tokens):
        return self.head(self.words(tokens).mean(1))


model = Bag(10)
loss = F.cross_entropy(model(tokens), torch.tensor([0, 1]))
