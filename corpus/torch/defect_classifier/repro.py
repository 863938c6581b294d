"""
Training of our weld defect classifier (grey scale crops from the line camera, 6 classes).

Worked fine with 96x96 crops. Since we switched to 112x112 it dies in the very first batch with
"mat1 and mat2 shapes cannot be multiplied". The images are replaced by random ones here, the
rest is what we run.

    python train_defects.py --epochs 2 --batch-size 16 --lr 3e-4
"""
import argparse
import json
import logging
import os
import random
import time
from collections import defaultdict, deque
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, Dataset, random_split

log = logging.getLogger("defects")

CLASSES = ("ok", "pore", "crack", "spatter", "undercut", "overlap")


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--image-size", type=int, default=112)
    p.add_argument("--width", type=int, default=24)
    p.add_argument("--lr", type=float, default=3e-4)
    p.add_argument("--weight-decay", type=float, default=1e-2)
    p.add_argument("--label-smoothing", type=float, default=0.05)
    p.add_argument("--out", type=Path, default=Path("runs/defects"))
    p.add_argument("--workers", type=int, default=0)
    p.add_argument("--seed", type=int, default=13)
    return p.parse_args()


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)


class WeldCrops(Dataset):
    """Random crops with a bright blob, good enough to show the problem."""

    def __init__(self, count, size, augment=True):
        self.size = size
        self.augment = augment
        rng = np.random.default_rng(7)
        self.labels = rng.integers(0, len(CLASSES), size=count)
        self.images = rng.normal(0.4, 0.2, size=(count, size, size)).astype(np.float32)
        for image, label in zip(self.images, self.labels):
            row, column = rng.integers(8, size - 8, size=2)
            image[row - 4 : row + 4, column - 4 : column + 4] += 0.1 * label

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = torch.from_numpy(self.images[index]).clamp(0, 1).unsqueeze(0)
        if self.augment and random.random() < 0.5:
            image = image.flip(-1)
        if self.augment and random.random() < 0.3:
            image = image + 0.02 * torch.randn_like(image)
        return image, int(self.labels[index])


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduction=4):
        super().__init__()
        self.down = nn.Conv2d(channels, channels // reduction, 1)
        self.up = nn.Conv2d(channels // reduction, channels, 1)

    def forward(self, x):
        s = F.adaptive_avg_pool2d(x, 1)
        s = self.up(F.silu(self.down(s)))
        return x * torch.sigmoid(s)


class ConvBlock(nn.Module):
    def __init__(self, cin, cout, stride=1, se=False):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(cout)
        self.se = SqueezeExcite(cout) if se else nn.Identity()
        self.shortcut = nn.Identity() if cin == cout and stride == 1 else nn.Conv2d(cin, cout, 1, stride, bias=False)

    def forward(self, x):
        y = F.silu(self.norm(self.conv(x)))
        return self.se(y) + self.shortcut(x)


class DefectNet(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 7, stride=2, padding=3), nn.BatchNorm2d(width), nn.SiLU())
        self.stage1 = nn.Sequential(ConvBlock(width, width), ConvBlock(width, 2 * width, stride=2))
        self.stage2 = nn.Sequential(
            ConvBlock(2 * width, 2 * width, se=True),
            ConvBlock(2 * width, 4 * width, stride=2, se=True),
        )
        self.reduce = nn.Conv2d(4 * width, 16, 1)
        self.pool = nn.MaxPool2d(2)
        # 96 / 16 = 6
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(16 * 6 * 6, 128),
            nn.SiLU(),
            nn.Dropout(0.3),
            nn.Linear(128, classes),
        )
        self.apply(self._init)

    @staticmethod
    def _init(module):
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out")
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.stem(x)
        x = self.stage1(x)
        x = self.stage2(x)
        x = self.pool(self.reduce(x))
        return self.head(x)


class Meter:
    def __init__(self, window=20):
        self.values = defaultdict(lambda: deque(maxlen=window))

    def update(self, **values):
        for name, value in values.items():
            self.values[name].append(float(value))

    def __str__(self):
        return " ".join(f"{name}={sum(v) / len(v):.4f}" for name, v in self.values.items())


def train_one_epoch(model, loader, optimizer, scheduler, device, args, epoch):
    model.train()
    meter = Meter()
    start = time.time()
    for step, (images, labels) in enumerate(loader):
        images, labels = images.to(device), labels.to(device)
        logits = model(images)
        loss = F.cross_entropy(logits, labels, label_smoothing=args.label_smoothing)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        meter.update(loss=loss.item(), norm=norm)
        if step % 5 == 0:
            log.info("epoch %d step %d %s (%.1fs)", epoch, step, meter, time.time() - start)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    hits = total = 0
    for images, labels in loader:
        predicted = model(images.to(device)).argmax(1).cpu()
        hits += (predicted == labels).sum().item()
        total += len(labels)
    return hits / max(total, 1)


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    seed_everything(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = WeldCrops(64, args.image_size)
    train_set, val_set = random_split(data, [48, 16], generator=torch.Generator().manual_seed(0))
    loader = DataLoader(train_set, args.batch_size, shuffle=True, num_workers=args.workers, drop_last=True)
    val_loader = DataLoader(val_set, args.batch_size, num_workers=args.workers)

    model = DefectNet(args.width, len(CLASSES)).to(device)
    log.info("%.2fM parameters", sum(p.numel() for p in model.parameters()) / 1e6)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    scheduler = CosineAnnealingLR(optimizer, T_max=args.epochs * len(loader))

    best = 0.0
    args.out.mkdir(parents=True, exist_ok=True)
    for epoch in range(args.epochs):
        train_one_epoch(model, loader, optimizer, scheduler, device, args, epoch)
        accuracy = evaluate(model, val_loader, device)
        if accuracy > best:
            best = accuracy
            torch.save({"model": model.state_dict(), "epoch": epoch}, args.out / "best.pt")
    (args.out / "result.json").write_text(json.dumps({"best": best, "args": {k: str(v) for k, v in vars(args).items()}}))


if __name__ == "__main__":
    main()
