"""The Spark engine: events stay on the cluster, and only counts come back.

It is imported only when somebody asks for a Spark source, and ``pyspark`` is imported nowhere else.
"""

from summarkov.engines.spark.source import SparkSource, map_sorted, open_spark

__all__ = ["SparkSource", "map_sorted", "open_spark"]
