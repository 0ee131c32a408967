"""A classifier on the mean of a small BERT's last layer: the pooler of the library's model has nothing to do."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import torch.nn.functional as F
from torch import nn
from transformers import BertConfig, BertModel

torch.manual_seed(0)
words = torch.randint(1, 64, (256, 12))
labels = (words < 32).sum(1).gt(6).long()


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        config = BertConfig(
            vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
        )
        self.bert, self.head = BertModel(config), nn.Linear(32, 2)

    def forward(self, ids):
        return self.head(self.bert(input_ids=ids).last_hidden_state.mean(1))


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(4):
    for batch in torch.randperm(256).split(32):
        loss = F.cross_entropy(model(words[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
result = [each.detach() for each in model.parameters()]
