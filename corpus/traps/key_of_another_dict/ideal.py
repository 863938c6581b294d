import string
string.Template("$region").substitute()
