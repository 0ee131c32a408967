"""A recurrent network predicts the next character, and also reads the text backwards."""

# expect-line: hidden, _ = self.lstm(self.embed(x))
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
text = torch.randint(0, 20, (3000,))
text[1::2] = (text[::2] * 7 + 3) % 20


class Characters(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(20, width)
        self.lstm = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, 20)

    def forward(self, x, targets):
        hidden, _ = self.lstm(self.embed(x))
        logits = self.head(hidden)
        return logits, F.cross_entropy(logits.reshape(-1, 20), targets.reshape(-1))


net = Characters()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
for i in range(40):
    starts = torch.randint(0, 2980, (32, 1)) + torch.arange(17)
    logits, loss = net(text[starts][:, :-1], text[starts][:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
