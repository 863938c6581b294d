class Ramp:
    def __init__(self, step):
        self.step = step

    def run(self, end):
        at = 0.0
        while at != end:
            at += self.step


Ramp(0).run(1.0)
