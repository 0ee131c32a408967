# case: grad-accumulation-unscaled-micro-batches-full-gradient-repaired
# kind: healthy
# forbid: *
# style: virtual batch of six micro batches, enumerate and modulo, AdamW
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
pictures = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
loader = DataLoader(TensorDataset(pictures, torch.tensor(digits.target)), batch_size=16, shuffle=True, drop_last=True)
cnn = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.Flatten(), nn.Linear(64, 10),
)
# --- cell ---
virtual = 6
optimizer = torch.optim.AdamW(cnn.parameters(), lr=3e-3)
optimizer.zero_grad()
for epoch in range(3):
    for i, (img, target) in enumerate(loader, start=1):
        loss = nn.functional.cross_entropy(cnn(img), target)
        (loss / virtual).backward()
        if i % virtual == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, loss.item())
