import torch
from torch.testing import assert_close


def mean_length(lengths):
    total = lengths.to(torch.float16).cumsum(0)[-1]
    return float(total) / len(lengths)


def exact(lengths):
    return float(lengths.sum()) / len(lengths)


short = torch.full((16,), 0.5)
assert_close(mean_length(short), exact(short))
long = torch.full((4096,), 3.1)
assert_close(mean_length(long), exact(long))
