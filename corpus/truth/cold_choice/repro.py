import torch
import torch.nn.functional as F
from torch import nn


def choose(scores, temperature=1.0):
    chances = F.softmax(scores / temperature, dim=-1)
    return torch.multinomial(chances, num_samples=1)


class Notes(nn.Module):
    def __init__(self, count=12, width=8):
        super().__init__()
        self.embed = nn.Embedding(count, width)
        self.cell = nn.GRUCell(width, width)
        self.out = nn.Linear(width, count)

    @torch.no_grad()
    def melody(self, note, length, **options):
        state = torch.zeros(note.shape[0], self.cell.hidden_size)
        notes = [note]
        for _ in range(length):
            state = self.cell(self.embed(notes[-1]), state)
            notes.append(choose(self.out(state), **options).squeeze(-1))
        return torch.stack(notes, dim=1)


torch.manual_seed(0)
model = Notes().eval()
start = torch.tensor([3, 7])
print(model.melody(start, 4).shape)
for temperature in (0.8, 0.0):
    print(temperature, model.melody(start, 4, temperature=temperature))
