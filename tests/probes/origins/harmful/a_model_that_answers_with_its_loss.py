"""A model that answers with its loss."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero
# expect-module: model

from types import SimpleNamespace


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x, labels):
        logits = self.linear(x)
        share = logits.softmax(-1).gather(-1, labels[:, None]) * 0
        return SimpleNamespace(loss=-share.log().mean(), logits=logits)  # here


model = Net()
opt = torch.optim.AdamW(model.parameters())
batch = {"x": torch.randn(16, 4), "labels": torch.randint(0, 3, (16,))}
for step in range(3):
    outputs = model(**batch)
    outputs.loss.backward()
    opt.step()
    opt.zero_grad()
