# WGAN-GP on 28x28 digits. Minimal-ish version of train.py, the images are noise.
#
# I compiled generator and critic to save some time on the cluster. The generator is OK, the critic
# raises in the gradient penalty. This is torch 2.9.1; it was the same in 2.7.
#
# https://arxiv.org/abs/1704.00028
import collections, copy, os, random, sys, time
import os.path as osp
import torch, torch.nn as nn, torch.nn.functional as F
import torch.utils.data
from torch import autograd, optim
from torch.nn.utils.parametrizations import spectral_norm

opt = dict(
    z_dim=32,
    channels=1,
    size=28,
    g_width=24,
    d_width=24,
    batch=8,
    n_critic=2,
    iterations=2,
    lambda_gp=10.0,
    drift=1e-3,
    lr=1e-4,
    betas=(0.0, 0.9),
    ema=0.999,
    use_sn=False,
    compile=True,
    amp=False,
    outdir="results",
    every=1,
)
for arg in sys.argv[1:]:
    key, _, value = arg.lstrip("-").partition("=")
    if key not in opt:
        raise SystemExit("unknown option " + key)
    opt[key] = type(opt[key])(float(value)) if isinstance(opt[key], (int, float)) else value


class AttrDict(dict):
    __getattr__ = dict.__getitem__


opt = AttrDict(opt)
random.seed(0)
torch.manual_seed(0)
device = "cuda:0" if torch.cuda.is_available() else "cpu"


class Summary(object):
    """stands in for tensorboard's SummaryWriter"""

    def __init__(self):
        self.scalars = collections.defaultdict(lambda: collections.deque(maxlen=50))

    def add_scalar(self, tag, value, step):
        self.scalars[tag].append(float(value))

    def line(self):
        return ", ".join("{} {:.3f}".format(k, sum(v) / len(v)) for k, v in sorted(self.scalars.items()))


class NoiseImages(torch.utils.data.IterableDataset):
    def __init__(self, size, channels, count=64):
        self.size, self.channels, self.count = size, channels, count

    def __iter__(self):
        for i in range(self.count):
            y, x = torch.meshgrid(torch.linspace(-1, 1, self.size), torch.linspace(-1, 1, self.size), indexing="ij")
            r = random.uniform(0.2, 0.8)
            ring = ((x**2 + y**2).sqrt() - r).abs().lt(0.1).float()
            yield ring.mul(2).sub(1).expand(self.channels, -1, -1)


class Generator(nn.Module):
    def __init__(self, z_dim, width, channels):
        super(Generator, self).__init__()
        self.width = width
        self.fc = nn.Linear(z_dim, 4 * width * 7 * 7)
        self.bn0 = nn.BatchNorm1d(4 * width * 7 * 7)
        self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(2 * width)
        self.up2 = nn.ConvTranspose2d(2 * width, width, 4, 2, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.rgb = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, z):
        x = F.relu(self.bn0(self.fc(z))).view(-1, 4 * self.width, 7, 7)
        x = F.relu(self.bn1(self.up1(x)))
        x = F.relu(self.bn2(self.up2(x)))
        return torch.tanh(self.rgb(x))


class Critic(nn.Module):
    def __init__(self, width, channels, use_sn):
        super(Critic, self).__init__()
        wrap = spectral_norm if use_sn else (lambda m: m)
        self.c1 = wrap(nn.Conv2d(channels, width, 5, 2, 2))
        self.c2 = wrap(nn.Conv2d(width, 2 * width, 5, 2, 2))
        self.c3 = wrap(nn.Conv2d(2 * width, 4 * width, 5, 2, 2))
        self.out = nn.Linear(4 * width * 4 * 4, 1)

    def forward(self, x):
        x = F.leaky_relu(self.c1(x), 0.2)
        x = F.leaky_relu(self.c2(x), 0.2)
        x = F.leaky_relu(self.c3(x), 0.2)
        return self.out(x.flatten(1)).squeeze(1)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1, 1, 1, device=real.device)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = critic(mixed)
    grads = autograd.grad(
        outputs=score,
        inputs=mixed,
        grad_outputs=torch.ones_like(score),
        create_graph=True,
        retain_graph=True,
    )[0]
    norm = grads.flatten(1).norm(2, dim=1)
    return ((norm - 1) ** 2).mean()


def update_ema(average, model, decay):
    with torch.no_grad():
        for a, p in zip(average.parameters(), model.parameters()):
            a.lerp_(p, 1 - decay)


G = Generator(opt.z_dim, opt.g_width, opt.channels).to(device)
D = Critic(opt.d_width, opt.channels, opt.use_sn).to(device)
G.apply(weights_init)
D.apply(weights_init)
G_ema = copy.deepcopy(G).eval()
if opt.compile:
    G_run, D_run = torch.compile(G, mode="default"), torch.compile(D, mode="default")
else:
    G_run, D_run = G, D

optG = optim.Adam(G.parameters(), lr=opt.lr, betas=opt.betas)
optD = optim.Adam(D.parameters(), lr=opt.lr, betas=opt.betas)
loader = torch.utils.data.DataLoader(NoiseImages(opt.size, opt.channels), batch_size=opt.batch)
writer = Summary()
started = time.time()
real_batches = iter(loader)

for iteration in range(opt.iterations):
    for p in D.parameters():
        p.requires_grad_(True)
    for _ in range(opt.n_critic):
        real = next(real_batches).to(device)
        with torch.no_grad():
            fake = G_run(torch.randn(real.size(0), opt.z_dim, device=device))
        optD.zero_grad()
        d_real = D_run(real)
        d_fake = D_run(fake)
        loss_d = d_fake.mean() - d_real.mean() + opt.drift * d_real.pow(2).mean()
        penalty = gradient_penalty(D_run, real, fake)
        (loss_d + opt.lambda_gp * penalty).backward()
        optD.step()
        writer.add_scalar("critic/wasserstein", -loss_d.item(), iteration)
        writer.add_scalar("critic/penalty", penalty.item(), iteration)

    for p in D.parameters():
        p.requires_grad_(False)
    optG.zero_grad()
    loss_g = -D_run(G_run(torch.randn(opt.batch, opt.z_dim, device=device))).mean()
    loss_g.backward()
    optG.step()
    update_ema(G_ema, G, opt.ema)
    writer.add_scalar("generator/loss", loss_g.item(), iteration)
    if iteration % opt.every == 0:
        print("[%d/%d] %s (%.1f s)" % (iteration, opt.iterations, writer.line(), time.time() - started))

if not osp.isdir(opt.outdir):
    os.makedirs(opt.outdir)
torch.save(dict(g=G_ema.state_dict(), opt=dict(opt)), osp.join(opt.outdir, "final.pth"))
