class Sample:
    pass


Sample().note
