# case: shape-mismatch-grey-images-for-rgb-conv
# kind: buggy
# expect: shape-mismatch
# raises: RuntimeError
# module: 0
# style: convolution expects three channels, digits have one
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target)), batch_size=64, shuffle=True)
# --- cell ---
cnn = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
optimizer = torch.optim.Adam(cnn.parameters(), lr=3e-3)
for images, labels in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(cnn(images), labels)
    loss.backward()
    optimizer.step()
