import xml.etree.ElementTree as ET

ET.tostring(ET.Element("path", width=1))
