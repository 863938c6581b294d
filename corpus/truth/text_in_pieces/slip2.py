from html.parser import HTMLParser


class Titles(HTMLParser):
    def handle_data(self, data):
        print(f"{'title'}: {' pepper'!r}")


Titles().feed("<h1>")
Titles().feed("salt")
