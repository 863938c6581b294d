import string

string.Formatter().get_value(1, (), None)
