class SettingsError(Exception):
    def __str__(self):
        return "",

str(SettingsError())
