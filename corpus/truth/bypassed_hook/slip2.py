import torch

{}["encoder"]
