from html.parser import HTMLParser


class Titles(HTMLParser):
    def __init__(self, label):
        super().__init__(convert_charrefs=False)
        self.label = label
        self.level = 0

    def handle_starttag(self, tag, attrs):
        self.level = int(tag[1:])

    def handle_data(self, data):
        print(f"{self.label}: {data!r}")


parser = Titles("title")
print("one text is expected, salt & pepper")
parser.feed("<h1>salt &amp; pepper</h1>")
parser.close()
