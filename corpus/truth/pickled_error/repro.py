import pickle


class ApiError(Exception):
    def __init__(self, message, status):
        super().__init__(f"{status}: {message}")
        self.status = status


def fetch(path):
    if path.endswith("/"):
        raise ApiError(f"no page {path}", 404)
    return path


def in_worker(path):
    try:
        return pickle.dumps(fetch(path))
    except ApiError as error:
        return pickle.dumps(error)


for path in ["/home", "/files/"]:
    print(path, pickle.loads(in_worker(path)))
