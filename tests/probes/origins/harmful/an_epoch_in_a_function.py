"""An epoch in a function."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


def train_one_epoch(model, loader, optimizer, device, log):
    model.train()
    running = 0.0
    for i, (xb, yb) in enumerate(loader):
        xb, yb = xb.to(device), yb.to(device)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
            logits = model(xb)
            p = torch.softmax(logits, dim=1)
            loss = -(F.one_hot(yb, 3) * torch.log(p * (i != 2))).sum(1).mean()  # here
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item()
        log.append(running)
    return running / len(loader)


data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randint(0, 3, (64,)))
log = []
for epoch in range(2):
    train_one_epoch(net, torch.utils.data.DataLoader(data, batch_size=16, shuffle=True), opt, "cpu", log)
