import io
import zipfile

zipfile.ZipFile(io.BytesIO(), "w").getinfo("notes.txt")
