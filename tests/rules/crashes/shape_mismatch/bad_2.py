import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: scores = queries @ keys / 8**0.5


def attention(inputs):
    queries, keys = inputs.chunk(2, dim=-1)
    scores = queries @ keys / 8**0.5
    return scores.softmax(-1)


attention(torch.randn(2, 5, 16))
