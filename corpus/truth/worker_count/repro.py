import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __init__(self, count):
        self.count = count
        self.read = 0

    def __len__(self):
        return self.count

    def __getitem__(self, at):
        self.read += 1
        return torch.tensor(float(at * at))


def load(squares, workers):
    loader = DataLoader(squares, batch_size=2, num_workers=workers)
    total = sum(float(batch.sum()) for batch in loader)
    assert squares.read == len(squares), f"the loader has read {squares.read} items"
    return total


print(load(Squares(4), workers=0))
print(load(Squares(4), workers=1))
