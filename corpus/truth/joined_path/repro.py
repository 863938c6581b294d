import pathlib


class DataPath(pathlib.PosixPath):
    """A path that knows whose data it holds."""

    def label(self):
        return f"{self.name} ({self.keeper})"


def root(keeper):
    path = DataPath("/srv/data")
    path.keeper = keeper
    return path


def listing(base, names):
    lines = [base.label()]
    for name in names:
        lines.append((base / name).label())
    return "\n".join(lines)


print(listing(root("ops"), ["raw", "clean", "final"]))
