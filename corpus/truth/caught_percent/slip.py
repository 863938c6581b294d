import configparser

parser = configparser.ConfigParser()
try:
    parser.items("limits")
except Exception:
    print("settings not loaded")
