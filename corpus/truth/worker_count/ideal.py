import torch


class Squares(torch.utils.data.Dataset):
    read = 0

    def __len__(self):
        return 4

    def __getitem__(self, at):
        self.read += 1
        return at


squares = Squares()
list(torch.utils.data.DataLoader(squares, num_workers=1))
assert squares.read == len(squares), f"the loader has read {squares.read} items"
