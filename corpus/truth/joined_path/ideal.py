import pathlib


class DataPath(pathlib.PosixPath):
    pass


path = DataPath("/srv")
path.keeper = "ops"
(path / "raw").keeper
