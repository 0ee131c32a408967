# case: unscaled-step-optimizer-stepped-beside-scaler-repaired
# kind: healthy
# forbid: *
# style: AMP added to an old loop, optimizer.step() kept
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.images / 16).float()[:, None], torch.tensor(d.target)), 128, shuffle=True)
cnn = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
# --- cell ---
optimizer = torch.optim.AdamW(cnn.parameters(), lr=2e-3)
grad_scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)
for epoch in range(3):
    for images, labels in dl:
        optimizer.zero_grad()
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(cnn(images), labels)
        grad_scaler.scale(loss).backward()
        grad_scaler.step(optimizer)
        grad_scaler.update()
    print(epoch, loss.item())
