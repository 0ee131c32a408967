"""A loop of one's own with accelerate: gradients gathered by accumulate(), clipped, a prepared schedule, evaluation."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(416, 12)
y = (x @ torch.randn(12, 3)).argmax(1)
train_loader = DataLoader(TensorDataset(x[:336], y[:336]), batch_size=16, shuffle=True)
val_loader = DataLoader(TensorDataset(x[336:], y[336:]), batch_size=16)
model = nn.Sequential(nn.Linear(12, 48), nn.GELU(), nn.Linear(48, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 30)
accelerator = Accelerator(gradient_accumulation_steps=4, cpu=True)
model, optimizer, train_loader, val_loader, scheduler = accelerator.prepare(
    model, optimizer, train_loader, val_loader, scheduler
)
losses, validation = [], []
for epoch in range(5):
    model.train()
    for inputs, labels in train_loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(inputs), labels)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        losses.append(loss.detach())
    model.eval()
    total = 0.0
    with torch.no_grad():
        for inputs, labels in val_loader:
            total += nn.functional.cross_entropy(model(inputs), labels).item()
    validation.append(total / len(val_loader))
losses = [each.item() for each in losses]
result = [value.clone() for value in model.state_dict().values()]
