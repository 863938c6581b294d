import ast


class Settings:
    def __init__(self, texts):
        self.texts = texts
        self.found = {}

    def read(self):
        for name, text in self.texts.items():
            self.found[name] = ast.literal_eval(text)
        return self.found


TEXTS = {"size": "[1, 2]", "ratio": "0.5", "names": "['a', f'b']"}
settings = Settings(TEXTS)
try:
    print(settings.read())
except SyntaxError as error:
    print("refused as it should be:", error)
except ValueError as error:
    print("NO SYNTAX ERROR:", error)
