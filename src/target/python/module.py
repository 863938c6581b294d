# Finds the file of a module without importing anything of the user's. Asked by `minrepro -m`.


def locate(name):
    """The module's specification, or the part of its name that is not found."""
    path = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        part = ".".join(parts[:count])
        found = (finder.find_spec(part, path) for finder in sys.meta_path)
        spec = next((spec for spec in found if spec), None)
        if spec is None:
            return None, part
        path = spec.submodule_search_locations
        if path is None and count < len(parts):
            return None, ".".join(parts[: count + 1])
    if path is not None:
        return locate(name + ".__main__")
    return spec, None


spec, missing = locate(question)
if missing:
    answer({"missing": missing})
elif not str(spec.origin).endswith(".py"):
    answer({"origin": spec.origin})
else:
    import os

    here = os.path.realpath(os.getcwd())
    origin = os.path.realpath(spec.origin)
    inside = os.path.relpath(origin, here) if origin.startswith(here + os.sep) else None
    answer({"file": inside or origin, "package": spec.parent})
