"""A small transformer predicts the next character, and its encoder is given no mask."""

# expect-line: hidden = self.encoder(self.embed(x) + self.place[: x.shape[1]])
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
text = torch.randint(0, 20, (3000,))
text[1::2] = (text[::2] * 7 + 3) % 20


class Characters(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(20, width)
        self.place = nn.Parameter(torch.zeros(16, width))
        layer = nn.TransformerEncoderLayer(width, 4, 64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 20)

    def forward(self, x):
        hidden = self.encoder(self.embed(x) + self.place[: x.shape[1]])
        return self.head(hidden)


net = Characters()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
for i in range(40):
    starts = torch.randint(0, 2980, (32, 1)) + torch.arange(17)
    x, y = text[starts][:, :-1], text[starts][:, 1:]
    loss = F.cross_entropy(net(x).transpose(1, 2), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
