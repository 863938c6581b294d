import configparser

parser = configparser.ConfigParser()
parser.read_string("[server]\nPort = 8080\n")
dict(parser["server"])["Port"]
