import pickle


class OverLimit(Exception):
    def __init__(self, user, limit):
        super().__init__(user)


pickle.loads(pickle.dumps(OverLimit("bob", 20)))
