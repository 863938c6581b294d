import importlib.metadata as metadata
import importlib.util
import json
import os
import re
import site
import sys

sys.path += [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
sys.path.append(site.getusersitepackages())
proper = {"torch": "PyTorch", "numpy": "NumPy"}
found = []
owners = None
for name in sys.argv[1:]:
    names = [name]
    while names:
        try:
            found.append((proper.get(name, name), metadata.version(names.pop(0))))
            break
        except metadata.PackageNotFoundError:
            if owners is None:
                owners = getattr(metadata, "packages_distributions", dict)()
                names += owners.get(name, [])
if "torch" in sys.argv[1:]:
    try:
        folder = os.path.dirname(importlib.util.find_spec("torch").origin)
        with open(os.path.join(folder, "version.py")) as file:
            cuda = re.search(r"^cuda\b.*= *(\S+)", file.read(), re.M).group(1)
        found.append(("CUDA", "none" if cuda == "None" else cuda.strip("'\"")))
    except Exception:
        pass
first = ["PyTorch", "CUDA", "NumPy"]
found.sort(key=lambda item: first.index(item[0]) if item[0] in first else len(first))
print(json.dumps(found))
