# case: first-batchnorm-statistics-slow-copy-keeps-first-statistics-repaired
# kind: healthy
# forbid: *
# style: exponential moving average class over named_parameters, digits CNN, both evaluated each epoch
# --- setup ---
import copy

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(6)
data = load_digits()
pixels = torch.tensor(data.images / 16, dtype=torch.float32).unsqueeze(1)
digits = torch.tensor(data.target)


class Ema:
    def __init__(self, model, decay):
        self.model, self.decay = copy.deepcopy(model).eval(), decay

    @torch.no_grad()
    def update(self, model):
        new = dict(model.named_parameters())
        for name, value in self.model.named_parameters():
            value.mul_(self.decay).add_(new[name], alpha=1 - self.decay)
        for own, other in zip(self.model.buffers(), model.buffers()):
            own.copy_(other)


# --- cell ---
fast = nn.Sequential(
    nn.Conv2d(1, 12, 3), nn.BatchNorm2d(12), nn.ReLU(), nn.Conv2d(12, 24, 3), nn.BatchNorm2d(24), nn.ReLU(),
    nn.Flatten(), nn.Linear(24 * 16, 10),
)
ema = Ema(fast, 0.9)
slow = ema.model
optimizer = torch.optim.SGD(fast.parameters(), lr=0.05, momentum=0.9)
for epoch in range(4):
    fast.train()
    for rows in torch.randperm(1300).split(64):
        loss = nn.functional.cross_entropy(fast(pixels[rows]), digits[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(fast)
    with torch.inference_mode():
        logits = slow(pixels[1300:])
    print(epoch, (logits.argmax(1) == digits[1300:]).float().mean().item())
