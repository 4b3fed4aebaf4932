"""The Spark engine: events stay on the cluster, and only counts come back.

``pyspark`` is imported nowhere else, and only when somebody asks for a Spark source.
"""

from summarkov.engines.spark.mapped_rows import Made, NewColumn, map_sorted
from summarkov.engines.spark.source import SparkSource, scan_spark

__all__ = ["Made", "NewColumn", "SparkSource", "map_sorted", "scan_spark"]
