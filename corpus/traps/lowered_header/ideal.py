class Headers(dict):
    def __setitem__(self, name, value):
        super().__setitem__(name.lower(), value)

    def __getitem__(self, name):
        return super().__getitem__(name.lower())


headers = Headers()
headers.update({"X-Sign": "k7"})
headers["X-Sign"]
