# case: sigmoid-before-bce-with-logits-multilabel-functional-double-sigmoid-repaired
# kind: healthy
# forbid: *
# style: multi-label tags, functional loss with class weights
# --- setup ---
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
docs = torch.randn(600, 20)
tags_all = (docs @ torch.randn(20, 5) > 1.0).float()
tagger = nn.Sequential(nn.Linear(20, 40), nn.SiLU(), nn.Linear(40, 5))
optimizer = torch.optim.AdamW(tagger.parameters(), lr=5e-3)
# --- cell ---
weights = (1 / tags_all.mean(0).clamp(min=0.05)).clamp(max=5)
for epoch in range(6):
    for rows in torch.randperm(600).split(60):
        scores, tags = tagger(docs[rows]), tags_all[rows]
        loss = F.binary_cross_entropy_with_logits(scores, tags, pos_weight=weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
