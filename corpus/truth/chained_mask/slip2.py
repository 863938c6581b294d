class Attend:
    def forward(self, mask):
        pass


Attend().forward()
