from configparser import ConfigParser

ConfigParser().read_dict({"": {"": "%"}})
