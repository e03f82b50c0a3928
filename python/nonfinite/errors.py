"""The exceptions of checks of files. What the system refuses is an `OSError` of Python."""


class CheckError(Exception):
    """A file could not be checked.

    `path` is the file. `reason` says why, without the path.
    """

    def __init__(self, reason: str, path: str) -> None:
        super().__init__(reason, path)
        self.reason = reason
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class UnknownFormatError(CheckError):
    """No reader knows the format of the file, so the file was not looked at."""


class NotBuiltError(UnknownFormatError):
    """This build of the package leaves out the reader of URLs.

    `reason` says which feature adds the reader. The README says how to build with it.
    """


class InvalidFileError(CheckError):
    """The file is damaged, or it has a part that this version cannot read."""


class LimitError(CheckError):
    """The file claims more data than `max_bytes` allows."""


class ChangedError(CheckError):
    """The file has changed during the check."""


class RemoteError(CheckError):
    """The server of a URL cannot be reached, or refuses the request."""
