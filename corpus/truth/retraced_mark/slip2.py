import torch

{}["stage"]
