import configparser

configparser.ConfigParser()["Port"]
