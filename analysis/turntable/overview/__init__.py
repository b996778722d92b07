"""The report over all experiments of one name: overview.html, beside the pages of each."""

from turntable.overview.write import Written, newest_series, series_named, write_overview

__all__ = ["Written", "newest_series", "series_named", "write_overview"]
