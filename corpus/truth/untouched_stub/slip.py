import torch
import torch.ao.quantization as quant

model = torch.nn.Sequential(torch.nn.Linear(1, 1)).eval()
model.qconfig = quant.get_default_qconfig()
quant.prepare(model, inplace=True)
quant.convert(model)(torch.ones(1, 1))
