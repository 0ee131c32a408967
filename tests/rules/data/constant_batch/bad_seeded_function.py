"""A function of an earlier cell draws the rows, and seeds before it does."""

# expect-line: xb, yb = get_batch()
import torch
from torch import nn

torch.manual_seed(0)
words = torch.randint(20, (2000,))


def get_batch(size=8, block=16, seed=1337):
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(words) - block - 1, (size,), generator=generator)
    return torch.stack([words[i : i + block] for i in starts]), torch.stack(
        [words[i + 1 : i + block + 1] for i in starts]
    )


net = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 20))
# --- cell ---
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
for step in range(40):
    xb, yb = get_batch()
    loss = nn.functional.cross_entropy(net(xb).flatten(0, 1), yb.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
