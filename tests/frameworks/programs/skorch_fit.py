"""skorch: a scikit-learn estimator around a module, with its own split for validation, a schedule and clipping."""

import numpy as np
import torch
from skorch import NeuralNetClassifier
from skorch.callbacks import GradientNormClipping, LRScheduler
from torch import nn

torch.manual_seed(0)
generator = np.random.default_rng(0)
x = generator.normal(size=(480, 10)).astype(np.float32)
y = (x @ generator.normal(size=(10, 3))).argmax(1).astype(np.int64)


class Classifier(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, 3))

    def forward(self, x):
        return self.layers(x)


net = NeuralNetClassifier(
    Classifier,
    criterion=nn.CrossEntropyLoss,
    optimizer=torch.optim.Adam,
    lr=0.01,
    max_epochs=6,
    batch_size=32,
    iterator_train__shuffle=True,
    callbacks=[
        ("schedule", LRScheduler(policy="StepLR", step_size=2, gamma=0.5)),
        ("clip", GradientNormClipping(gradient_clip_value=1.0)),
    ],
    verbose=0,
)
net.fit(x, y)
losses = [batch["train_loss"] for epoch in net.history for batch in epoch["batches"] if "train_loss" in batch]
validation = [epoch["valid_loss"] for epoch in net.history]
result = [value.clone() for value in net.module_.state_dict().values()]
