"""A function that draws the rows from a generator of its own, seeded once, and one that seeds what it draws anew."""

import torch
from torch import nn

torch.manual_seed(0)
words = torch.randint(20, (2000,))
generator = torch.Generator().manual_seed(1337)


def get_batch(size=8, block=16, step=None):
    if step is not None:
        generator.manual_seed(step)
    starts = torch.randint(len(words) - block - 1, (size,), generator=generator)
    return torch.stack([words[i : i + block] for i in starts]), torch.stack(
        [words[i + 1 : i + block + 1] for i in starts]
    )


net = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 20))
# --- cell ---
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
for step in range(40):
    xb, yb = get_batch(step=step if step % 2 else None)
    loss = nn.functional.cross_entropy(net(xb).flatten(0, 1), yb.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
