from html.parser import HTMLParser


class Titles(HTMLParser):
    def handle_data(self, data):
        print(f"title: {data!r}")


Titles().feed("<h1> pepper</h1>")
