# case: eval-mode-training-batchnorm-fixed-by-train-false-repaired
# kind: healthy
# forbid: *
# style: class-based loop, train(False) in the checkpoint method
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
imgs, labels = torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target)


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.fc = nn.Linear(72, 10)

    def forward(self, x):
        return self.fc(nn.functional.max_pool2d(torch.relu(self.bn(self.conv(x))), 2).flatten(1))


class Trainer:
    def __init__(self, model):
        self.model, self.checkpoint = model, None
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def save(self):
        self.checkpoint = {k: v.clone() for k, v in self.model.state_dict().items()}

    def train(self, epochs):
        for _ in range(epochs):
            for rows in torch.randperm(len(imgs)).split(128):
                self.opt.zero_grad()
                loss = nn.functional.cross_entropy(self.model(imgs[rows]), labels[rows])
                loss.backward()
                self.opt.step()
            self.save()
        return loss.item()
# --- cell ---
trainer = Trainer(SmallCNN())
print(trainer.train(3))
