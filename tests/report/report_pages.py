"""Reading the HTML of a report back: a small tree, from the standard library alone."""

import json
from html.parser import HTMLParser

VOID = {"meta", "link", "br"}


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children = []

    @property
    def text(self):
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    def walk(self):
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag=None, **attributes):
        """Return the nodes below with this tag and these attributes, data_x standing for data-x."""
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        return [
            node
            for node in self.walk()
            if tag in (None, node.tag)
            and all(node.attributes.get(name) == value for name, value in wanted.items())
        ]

    def one(self, tag=None, **attributes):
        (node,) = self.all(tag, **attributes)
        return node

    def value(self, name):
        """Return the full number behind what is shown, None where there is none."""
        found = self.one(data_name=name).attributes.get("data-value")
        return None if found is None else float(found)


class _Tree(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.at = Node("document", {}, None)

    def handle_starttag(self, tag, attrs):
        node = Node(tag, dict(attrs), self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        self.at.children.append(Node(tag, dict(attrs), self.at))

    def handle_endtag(self, tag):
        assert tag == self.at.tag, f"</{tag}> closes <{self.at.tag}>"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


def read(page):
    """Return the tree of a page, every element of which must be closed."""
    tree = _Tree()
    tree.feed(page)
    tree.close()
    assert tree.at is tree.root
    return tree.root


def notes(page):
    """Return the kinds of the notes about the data."""
    section = read(page).one(id="data")
    return [item.attributes["data-kind"] for item in section.all("li")]


def cursor(page):
    """Return what the cursor reads, as the script does."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    return json.loads(read(page).one(id="curves").text, parse_constant=refuse)
