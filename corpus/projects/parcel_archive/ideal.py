from zipfile import ZipInfo

ZipInfo("", (0,))
