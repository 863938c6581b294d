import torch

class Wave(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        return y + x.shape[0] / 3 % 2

size = torch.export.Dim("size")
exported = torch.export.export(Wave(), (torch.ones(4),), dynamic_shapes=[{0: size}])
torch._inductor.aoti_compile_and_package(exported, package_path="wave.pt2")
