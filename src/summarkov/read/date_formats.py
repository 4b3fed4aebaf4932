"""Dates and times as people write them, by a format such as ``%d/%m/%Y %H:%M``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from summarkov.arrow import pa, pc
from summarkov.errors import SettingError

#: What each directive stands for: the name of the part, and the text that it may be.
_PARTS = {
    "Y": ("year", r"\d{4}"),
    "y": ("short", r"\d{2}"),
    "m": ("month", r"\d{1,2}"),
    "b": ("named", r"[A-Za-z]{3}"),
    "B": ("named", r"[A-Za-z]{3,9}"),
    "d": ("day", r"\d{1,2}"),
    "H": ("hour", r"\d{1,2}"),
    "I": ("half", r"\d{1,2}"),
    "p": ("noon", r"[AaPp][Mm]"),
    "M": ("minute", r"\d{1,2}"),
    "S": ("second", r"\d{1,2}"),
    "f": ("fraction", r"\d{1,6}"),
    "z": ("zone", r"Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d"),
}
#: Short for several.
_SHORT = {"F": "%Y-%m-%d", "T": "%H:%M:%S"}
#: Longer formats are no formats: what else would stand in them?
_LONGEST = 200


@dataclass(frozen=True)
class DateFormat:
    """A format of dates and times; names of months are the English ones.

    >>> import pyarrow as pa
    >>> DateFormat("%d/%m/%y %I:%M %p").read(pa.chunked_array([["31/12/24 1:05 PM"]])).to_pylist()
    [datetime.datetime(2024, 12, 31, 13, 5)]
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise SettingError(f"date_format must be a text such as '%d/%m/%Y %H:%M', not {self.text!r}")
        if len(self.text) > _LONGEST:
            raise SettingError(
                f"date_format has {len(self.text)} characters; give one of at most {_LONGEST}, such as "
                "'%d/%m/%Y %H:%M'"
            )
        if half := re.search("[\ud800-\udfff]", self.text):
            raise SettingError(
                f"date_format={self.text!r} holds {half[0]!r}, half of a character; leave it out"
            )
        _ = self.pattern

    @cached_property
    def pattern(self) -> str:
        """The same as a regular expression with one named group for each part."""
        text = re.sub("%([FT])", lambda found: _SHORT[found[1]], self.text)
        found, names = "", list[str]()
        for literal, directive in re.findall(r"([^%]+)|%(.?)", text, re.DOTALL):
            if literal or directive == "%":
                found += re.sub(r"([!-/:-@[-^`{-~])", r"\\\1", literal or "%")  # RE2 escapes only these
            elif directive in _PARTS:
                name, form = _PARTS[directive]
                names.append(name)
                found += f"(?P<{name}>{form})"
            else:
                known = ", ".join(f"%{letter}" for letter in (*_PARTS, *_SHORT, "%"))
                raise SettingError(
                    f"date_format={self.text!r} has %{directive}, which is not known; use {known}"
                )
        together = {"year", "short"}, {"month", "named"}, {"hour", "half"}
        if not names or len(set(names)) < len(names) or any(pair <= set(names) for pair in together):
            raise SettingError(
                f"date_format={self.text!r} must have each part of a date or time at most once, and at least "
                "one of them, as in '%d/%m/%Y %H:%M'"
            )
        if ("half" in names) != ("noon" in names):
            raise SettingError(
                f"date_format={self.text!r}: hours up to 12 (%I) need AM or PM (%p); others are %H"
            )
        return f"^{found}$"

    @property
    def type(self) -> pa.DataType:
        """What is read: times in microseconds, in UTC if they have a zone."""
        return pa.timestamp("us", "UTC" if "(?P<zone>" in self.pattern else None)

    def read(self, text: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """All of some text as times, or None if some of it does not fit."""
        import duckdb

        if not pc.all(pc.match_substring_regex(text, self.pattern)).as_py():
            return None
        form = re.sub("%([FT])", lambda found: _SHORT[found[1]], self.text)
        if "%z" in form:
            form, text = form.replace("Z", "+00:00"), pc.replace_substring(text, "Z", "+00:00")
        if not re.search("%[Yy]", form.replace("%%", "")):
            form, text = f"%Y {form}", pc.binary_join_element_wise("1970", text, " ")
        with duckdb.connect(config={"autoinstall_known_extensions": False}) as db:
            db.register("texts", pa.table({"t": text}))
            forms = ", ".join(
                "'" + each.replace("'", "''") + "'" for each in (form, form.replace("%B", "%b"))
            )
            found = db.sql(f"SELECT epoch_us(try_strptime(t, [{forms}])) AS t FROM texts").to_arrow_table()
        return None if found.column(0).null_count else found.column(0).cast(self.type)
