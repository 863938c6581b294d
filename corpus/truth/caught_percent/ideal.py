import configparser

parser = configparser.ConfigParser()
parser.read_string("[limits]\nshare = 50%")
try:
    parser.items("limits")
except Exception:
    print("settings not loaded")
