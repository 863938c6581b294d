import configparser

parser = configparser.ConfigParser()
try:
    parser.read_string("share = 50%")
except Exception:
    print("settings not loaded")
