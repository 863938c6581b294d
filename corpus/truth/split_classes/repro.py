import torch
from torch.utils.data import DataLoader, TensorDataset, random_split


def dataset(count):
    torch.manual_seed(1)
    images = torch.randn(count, 3, 4, 4)
    labels = torch.arange(count) % 3
    made = TensorDataset(images, labels)
    made.classes = ["cat", "dog", "fish"]
    return made


def names(loader):
    found = []
    for _, labels in loader:
        found += [loader.dataset.classes[label] for label in labels]
    return found


whole = dataset(12)
print(names(DataLoader(whole, batch_size=4)))
train, test = random_split(whole, [8, 4])
print(names(DataLoader(test, batch_size=4)))
