import torch

{}["freqs"]
