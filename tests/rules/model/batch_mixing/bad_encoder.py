"""Encoder layers that take time first, called one by one in a method."""

# expect-line: self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0) for _ in range(2))
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    def __init__(self, words=11, width=16):
        super().__init__()
        self.words, self.out = nn.Embedding(words, width), nn.Linear(width, words)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0) for _ in range(2))

    def encode(self, tokens):
        hidden = self.words(tokens)
        for norm, layer in zip(self.norms, self.layers):
            hidden = layer(norm(hidden))
        return hidden

    def forward(self, tokens):
        return self.out(self.encode(tokens))


torch.manual_seed(0)
tokens = torch.randint(0, 11, (160, 8))
loader = DataLoader(TensorDataset(tokens, tokens.sort(1).values), batch_size=20, shuffle=True)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(xb).flatten(0, 1), yb.flatten()).backward()
    optimizer.step()
