import pathlib


class DataPath(pathlib.PosixPath):
    pass


(DataPath("/srv") / "raw").keeper
