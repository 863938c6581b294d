class Money:
    def __format__(self, spec):
        pass

f"{Money()}"
