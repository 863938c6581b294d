import pickle


class ApiError(Exception):
    def __init__(self, message, status):
        super().__init__(message)


pickle.loads(pickle.dumps(ApiError("no page", 404)))
