# case: unshuffled-loader-sequential-sampler-by-class-repaired
# kind: healthy
# forbid: *
# style: folder-like Dataset (class after class) with an explicit SequentialSampler
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, SequentialSampler

torch.manual_seed(0)
d = load_digits()


class FolderLike(Dataset):
    def __init__(self):
        self.files = [(c, i) for c in range(10) for i in (d.target == c).nonzero()[0]]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, k):
        c, i = self.files[k]
        return torch.tensor(d.images[i] / 16).float().unsqueeze(0), c
# --- cell ---
train_loader = DataLoader(FolderLike(), batch_size=40, shuffle=True)
cnn = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
opt = torch.optim.Adam(cnn.parameters(), lr=3e-3)
for epoch in range(2):
    for image, label in train_loader:
        loss = nn.functional.cross_entropy(cnn(image), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
