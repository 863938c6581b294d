import io
buffer = io.StringIO()
buffer.close()
buffer.write("")
