"""The errors of the reader."""


class Corrupt(Exception):
    """Bytes that break a rule of the format."""


class Refused(Corrupt):
    """A message that breaks one of the named rules of section 8 of FORMAT.md."""

    def __init__(self, rule, detail=""):
        super().__init__(f"{rule}: {detail}" if detail else rule)
        self.rule = rule


class Newer(Corrupt):
    """Bytes that ask for a newer version of the format."""


class EndOfStream(Exception):
    """The end marker, or zeros, where a message would begin."""
