"""fastai: a Learner with the one-cycle policy and one of torch's optimizers."""

from functools import partial

import torch
from fastai.callback.schedule import Learner
from fastai.data.core import DataLoaders
from fastai.learner import Recorder
from fastai.optimizer import OptimWrapper
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(448, 10)
y = (x @ torch.randn(10, 3)).argmax(1)
train_loader = DataLoader(TensorDataset(x[:352], y[:352]), batch_size=16, shuffle=True)
val_loader = DataLoader(TensorDataset(x[352:], y[352:]), batch_size=32)
model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 3))
learn = Learner(
    DataLoaders(train_loader, val_loader),
    model,
    loss_func=nn.CrossEntropyLoss(),
    opt_func=partial(OptimWrapper, opt=torch.optim.Adam),
)
with learn.no_bar(), learn.no_logging():
    learn.fit_one_cycle(4, 1e-2)
losses = None
validation = [values[1] for values in learn.recorder.values]
result = [value.clone() for value in model.state_dict().values()]
