"""Spark: events stay on the cluster, workers count whole cases, and only counts come back.

``pyspark`` is imported nowhere else, and only when somebody asks for a Spark source. This file imports
nothing, so that workers load no more than they need.
"""
