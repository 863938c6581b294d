import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.register_buffer("keys", torch.zeros(4, size))

    def forward(self, x):
        self.keys = 0.9 * self.keys + 0.1 * x.mean(0)
        return x @ self.keys.T


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 8)
        self.memory = Memory(8)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.memory(torch.relu(self.encoder(x))))


torch.manual_seed(0)
model = Student()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()
for step in range(3):
    x, y = torch.randn(7, 6), torch.randint(0, 3, (7,))
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, float(loss))
