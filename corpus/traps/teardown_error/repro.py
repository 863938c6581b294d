"""Writes a log through a buffer that is closed too early."""
import atexit
import io


class Journal:
    def __init__(self):
        self.buffer = io.StringIO()
        self.lines = 0

    def write(self, text):
        self.lines += 1
        self.buffer.write(text + "\n")

    def rotate(self):
        content = self.buffer.getvalue()
        self.buffer.close()
        return content

    def __del__(self):
        self.buffer.flush()


def leave(journal):
    journal.buffer.seek(0)


def main():
    journal = Journal()
    atexit.register(leave, journal)
    for number in range(3):
        journal.write("line %d" % number)
    print(len(journal.rotate()))
    journal.write("after rotation")


main()
