"""The Spark engine: events stay on the cluster, and only counts come back.

``pyspark`` is imported nowhere else, and only when somebody asks for a Spark source.
"""

from summarkov.engines.spark.source import SparkSource, map_sorted, scan_spark

__all__ = ["SparkSource", "map_sorted", "scan_spark"]
