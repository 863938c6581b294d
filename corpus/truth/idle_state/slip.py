import torch

{}["exp_avg"]
