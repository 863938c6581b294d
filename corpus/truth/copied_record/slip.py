class Record:
    def __init__(self):
        self.fields

    def __getattr__(self, name):
        self.fields


Record()
