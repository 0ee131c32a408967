import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: outputs = model(inputs)
# expect-module: model.0
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to("meta")
inputs = torch.randn(16, 4)
outputs = model(inputs)
