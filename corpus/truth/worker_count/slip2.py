import torch


class Squares(torch.utils.data.Dataset):
    read = 0

    def __len__(self):
        return 4


squares = Squares()
assert squares.read == len(squares), f"the loader has read {squares.read} items"
