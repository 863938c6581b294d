import string

string.Formatter().format("{0}: {1} grams", ("flour", 500))
