"""learned image compression, toy version (analysis / synthesis transform, factorized prior)

    RuntimeError: function RoundBackward returned an incorrect number of gradients (expected 3, got 2)

I only added the "step" argument to the rounding. apply() is called with 3 arguments, but step is a
python float, so there should be nothing to differentiate?
"""
import math, sys
import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from tqdm import trange
except ImportError:
    trange = range

DEVICE = torch.device("cpu")
LAMBDAS = {"low": 0.0018, "mid": 0.0067, "high": 0.025}


class Round(torch.autograd.Function):
    """hard rounding forward, a smooth staircase backward"""

    @staticmethod
    def forward(ctx, x, sharpness, step):
        ctx.save_for_backward(x / step)
        ctx.sharpness = sharpness
        return torch.round(x / step) * step

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = ctx.sharpness
        r = x - torch.floor(x) - 0.5
        slope = s * (1 - torch.tanh(s * r) ** 2) / (2 * math.tanh(s / 2))
        return grad * slope, None


class LowerBound(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bound):
        b = torch.full_like(x, bound)
        ctx.save_for_backward(x, b)
        return torch.max(x, b)

    @staticmethod
    def backward(ctx, grad):
        x, b = ctx.saved_tensors
        passes = (x >= b) | (grad < 0)
        return passes.type(grad.dtype) * grad, None


class GDN(nn.Module):
    """generalized divisive normalization"""

    def __init__(self, channels, inverse=False, beta_min=1e-6, gamma_init=0.1):
        super().__init__()
        self.inverse = inverse
        self.beta_min = beta_min
        self.beta = nn.Parameter(torch.ones(channels))
        self.gamma = nn.Parameter(gamma_init * torch.eye(channels))

    def forward(self, x):
        c = x.size(1)
        beta = LowerBound.apply(self.beta, self.beta_min)
        gamma = LowerBound.apply(self.gamma, 0.0).reshape(c, c, 1, 1)
        norm = F.conv2d(x**2, gamma, beta)
        norm = torch.sqrt(norm) if self.inverse else torch.rsqrt(norm)
        return x * norm


class FactorizedPrior(nn.Module):
    """logistic per channel; likelihood of the interval around each value"""

    def __init__(self, channels):
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(1, channels, 1, 1))
        self.log_scale = nn.Parameter(torch.zeros(1, channels, 1, 1))

    def cdf(self, x):
        return torch.sigmoid((x - self.mean) * torch.exp(-self.log_scale))

    def forward(self, y, step):
        likelihood = self.cdf(y + step / 2) - self.cdf(y - step / 2)
        return LowerBound.apply(likelihood, 1e-9)


def conv(i, o, kernel=5, stride=2):
    return nn.Conv2d(i, o, kernel_size=kernel, stride=stride, padding=kernel // 2)


def deconv(i, o, factor=2):
    return nn.Sequential(nn.Conv2d(i, o * factor**2, 3, padding=1), nn.PixelShuffle(factor))


class Codec(nn.Module):
    def __init__(self, n=24, m=32, sharpness=4.0):
        super().__init__()
        self.analysis = nn.Sequential(conv(3, n), GDN(n), conv(n, n), GDN(n), conv(n, m))
        self.synthesis = nn.Sequential(
            deconv(m, n), GDN(n, inverse=True), deconv(n, n), GDN(n, inverse=True), deconv(n, 3)
        )
        self.prior = FactorizedPrior(m)
        self.sharpness = sharpness
        self.log_step = 0.0

    @property
    def step(self):
        return 2.0**self.log_step

    def quantize(self, y):
        if self.training and self.sharpness is None:
            return y + (torch.rand_like(y) - 0.5) * self.step
        return Round.apply(y, self.sharpness, self.step)

    def forward(self, x):
        y = self.analysis(x)
        y_hat = self.quantize(y)
        likelihood = self.prior(y_hat, self.step)
        return {"x_hat": self.synthesis(y_hat), "y": y_hat, "likelihood": likelihood}


class RateDistortion(nn.Module):
    def __init__(self, quality):
        super().__init__()
        self.weight = LAMBDAS[quality] * 255**2

    def forward(self, out, x):
        pixels = x.size(0) * x.size(2) * x.size(3)
        bpp = out["likelihood"].log().sum() / (-math.log(2) * pixels)
        mse = F.mse_loss(out["x_hat"], x)
        return bpp + self.weight * mse, bpp, mse


def psnr(mse):
    return float("inf") if mse == 0 else -10 * math.log10(mse)


def patches(count, size, batch):
    """smooth colour gradients with some edges in them"""
    g = torch.Generator(device=DEVICE).manual_seed(count)
    for _ in range(count):
        coarse = torch.rand(batch, 3, 4, 4, generator=g)
        image = F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=True)
        edge = torch.rand(batch, 1, 1, 1, generator=g) * size
        image[..., :, :] = torch.where(torch.arange(size) > edge, image, image.flip(-1))
        yield image.clamp(0, 1)


def train(quality="mid", steps=3, size=64, batch=4, lr=1e-4):
    torch.manual_seed(len(quality))
    codec = Codec().to(DEVICE)
    criterion = RateDistortion(quality)
    main = [p for n, p in codec.named_parameters() if not n.startswith("prior.")]
    optimizer = torch.optim.Adam(main, lr=lr)
    aux = torch.optim.Adam(codec.prior.parameters(), lr=10 * lr)
    data = patches(steps, size, batch)
    for step in trange(steps):
        codec.train()
        codec.log_step = -1.0 + step / max(steps - 1, 1)
        x = next(data).to(DEVICE)
        out = codec(x)
        loss, bpp, mse = criterion(out, x)
        optimizer.zero_grad()
        aux.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(main, 1.0)
        optimizer.step()
        aux.step()
        print("%3d  %.3f bpp  %.2f dB" % (step, bpp.item(), psnr(mse.item())))
    return codec


if __name__ == "__main__":
    codec = train(*sys.argv[1:2])
    torch.save(codec.state_dict(), "codec.pt")
