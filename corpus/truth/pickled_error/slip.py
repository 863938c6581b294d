class ApiError(Exception):
    def __init__(self, message, status):
        pass


ApiError("no page")
