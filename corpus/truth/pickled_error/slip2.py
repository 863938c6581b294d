class ApiError:
    def __init__(self, status):
        pass


ApiError()
