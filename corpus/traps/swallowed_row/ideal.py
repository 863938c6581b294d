class Errors:
    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        return True


def read(line):
    with Errors():
        return float(line)


max([read("n/a")], key=lambda sample: sample.degrees)
