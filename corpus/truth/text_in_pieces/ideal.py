from html.parser import HTMLParser


class Titles(HTMLParser):
    def __init__(self, label):
        super().__init__(convert_charrefs=False)
        self.label = label

    def handle_data(self, data):
        print(f"{self.label}: {data!r}")


Titles("title").feed("<h1>salt &amp; pepper</h1>")
