class DataPath:
    pass


DataPath().keeper
