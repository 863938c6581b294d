"""Turn our simple scene format into SVG with xml.etree.

Nesting, groups, styles and the `repeat` element work one by one (see the
doctests that I removed for this report). Writing the whole drawing fails in
ElementTree's serializer, far from where the element was made.
"""
import copy
import math
import string
import sys
import xml.etree.ElementTree as ET
from functools import lru_cache, partial
from io import BytesIO

SVG = "http://www.w3.org/2000/svg"
ET.register_namespace("", SVG)

SCENE = """
<scene width="120" height="80" title="harbour">
  <style id="water" fill="navy" opacity="0.5"/>
  <style id="sun" fill="gold"/>
  <layer name="back">
    <box x="0" y="50" w="120" h="30" style="water"/>
    <disc x="95" y="18" r="9" style="sun"/>
  </layer>
  <layer name="boats">
    <repeat times="3" dx="35">
      <boat x="10" y="46" size="12"/>
    </repeat>
    <label x="4" y="10">Low tide</label>
  </layer>
  <unknown/>
</scene>
"""


@lru_cache(maxsize=None)
def qualified(tag):
    return f"{{{SVG}}}{tag}"


def number(text, default=0.0):
    if text is None:
        return default
    return float(text)


def short(value):
    """1.0 -> 1, 2.50 -> 2.5"""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return text or "0"


def element(parent, tag, **attributes):
    attributes = {key.replace("_", "-"): value for key, value in attributes.items() if value is not None}
    return ET.SubElement(parent, qualified(tag), attributes)


class Style:
    def __init__(self, node):
        self.name = node.get("id", "default")
        self.values = {key: value for key, value in node.items() if key != "id"}

    def apply(self, target):
        for key, value in self.values.items():
            target.set(key, value)


class Transformer:
    def __init__(self, *, strict=False):
        self.strict = strict
        self.styles = {}
        self.warnings = []
        self.depth = 0
        self.offset = (0.0, 0.0)
        self.counter = dict.fromkeys(string.ascii_lowercase[:3], 0)

    def transform(self, scene):
        size = {key: scene.get(key, "100") for key in ("width", "height")}
        root = ET.Element(qualified("svg"), size)
        element(root, "title").text = scene.get("title", "untitled")
        self.children(scene, root)
        return root

    def children(self, node, parent):
        self.depth += 1
        for child in node:
            method = getattr(self, "do_" + child.tag, partial(self.skip, child.tag))
            method(child, parent)
        self.depth -= 1

    def skip(self, tag, node, parent):
        self.warnings.append(f"level {self.depth}: {tag} is unknown")

    def place(self, node):
        dx, dy = self.offset
        return number(node.get("x")) + dx, number(node.get("y")) + dy

    def styled(self, node, made):
        style = self.styles.get(node.get("style"))
        if style is not None:
            style.apply(made)
        return made

    def do_style(self, node, parent):
        style = Style(node)
        self.styles[style.name] = style

    def do_layer(self, node, parent):
        group = element(parent, "g", id=node.get("name"))
        self.children(node, group)

    def do_box(self, node, parent):
        x, y = self.place(node)
        made = element(parent, "rect", x=short(x), y=short(y), width=node.get("w"), height=node.get("h"))
        self.styled(node, made)

    def do_disc(self, node, parent):
        x, y = self.place(node)
        self.styled(node, element(parent, "circle", cx=short(x), cy=short(y), r=node.get("r")))

    def do_label(self, node, parent):
        x, y = self.place(node)
        element(parent, "text", x=short(x), y=short(y), font_size="8").text = node.text

    def do_boat(self, node, parent):
        x, y = self.place(node)
        size = number(node.get("size"), 10.0)
        corners = [(0, 0), (size, 0), (size * 0.8, size / 3), (size * 0.2, size / 3)]
        points = " ".join(f"{short(x + a)},{short(y + b)}" for a, b in corners)
        element(parent, "polygon", points=points, fill="brown")
        mast = size * math.sin(math.pi / 3)
        element(parent, "path", d=f"M{short(x)} {short(y)}v-{short(mast)}", stroke_width=round(size / 10))

    def do_repeat(self, node, parent):
        saved = self.offset
        for index in range(int(node.get("times", "1"))):
            self.offset = saved[0] + index * number(node.get("dx")), saved[1] + index * number(node.get("dy"))
            self.children(copy.deepcopy(node), parent)
        self.offset = saved


def write(root, *, pretty=True):
    tree = ET.ElementTree(root)
    if pretty:
        ET.indent(tree, "  ")
    stream = BytesIO()
    tree.write(stream, encoding="utf-8", xml_declaration=True)
    return stream.getvalue().decode()


def main():
    transformer = Transformer()
    root = transformer.transform(ET.fromstring(SCENE))
    for warning in transformer.warnings:
        print(warning, file=sys.stderr)
    print(sum(1 for _ in root.iter()), "elements")
    print(write(root))


if __name__ == "__main__":
    main()
