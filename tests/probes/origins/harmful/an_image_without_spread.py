"""An image without spread."""

# expect-direction: input
# expect-op: div
# expect-cause: zero over zero


def standardise(img):
    return (img - img.mean((1, 2, 3), keepdim=True)) / img.std((1, 2, 3), keepdim=True)  # here


net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def train(n):
    for i in range(n):
        img, y = torch.rand(8, 1, 8, 8), torch.randint(0, 2, (8,))
        if i == 2:
            img[3] = 0
        out = net(standardise(img))
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()


train(4)
