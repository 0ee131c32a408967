# case: missing-causal-mask-small-gpt
# kind: buggy
# expect: missing-causal-mask
# line: weights = torch.softmax(scores, dim=-1)
# style: character GPT from scratch with loss in forward, on digits written out as text
# --- setup ---
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
numbers = torch.randint(0, 1000, (900,))
text = " ".join(f"{n}+1={n + 1};" for n in numbers.tolist())
letters = sorted(set(text))
data = torch.tensor([letters.index(letter) for letter in text])
block_size, width = 24, 32


def get_batch(size=32):
    starts = torch.randint(len(data) - block_size - 1, (size,))
    x = torch.stack([data[i : i + block_size] for i in starts])
    y = torch.stack([data[i + 1 : i + block_size + 1] for i in starts])
    return x, y
# --- cell ---
class Attention(nn.Module):
    def __init__(self, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (part.view(B, T, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / (C // self.heads) ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.mlp(self.norm_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(len(letters), width), nn.Embedding(block_size, width)
        self.blocks = nn.Sequential(Block(), Block())
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, len(letters))

    def forward(self, idx, targets=None):
        x = self.token(idx) + self.position(torch.arange(idx.shape[1]))
        logits = self.head(self.norm(self.blocks(x)))
        loss = None if targets is None else F.cross_entropy(logits.view(-1, len(letters)), targets.view(-1))
        return logits, loss


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(120):
    xb, yb = get_batch()
    logits, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
print(loss.item())
