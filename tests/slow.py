"""What ``make quick`` leaves out: files and tests that take long, by how their names start.

Every room of the package keeps quick tests; ``tests/unit/test_selection.py`` sees to that.
"""

SLOW = (
    "docs/guide/spark.md",
    "tests/browser/",
    "tests/engines/test_counts.py",
    "tests/engines/test_cuts.py",
    "tests/engines/test_engines.py",
    "tests/engines/test_stream.py",
    "tests/hostile/test_load.py",
    "tests/hostile/test_no_one_gets_in.py",
    "tests/hostile/test_nothing_lost.py",
    "tests/hostile/test_odd_events.py",
    "tests/properties/test_context_trees.py",
    "tests/properties/test_exact.py",
    "tests/published/",
    "tests/spark/",
    "tests/unit/test_cli_reproduce.py",
    "tests/unit/test_cli_startup.py",
    "tests/unit/test_cli_streams.py",
    "tests/unit/test_docs.py::test_commands_print_what_the_documents_show",
    "tests/unit/test_evaluation_comparison.py",
    "tests/unit/test_killed.py",
    "tests/unit/test_plot.py::test_equal_figures_are_equal_files",
    "tests/unit/test_readers_formats.py::test_bombs_are_bounded",
    "tests/unit/test_readers_roundtrip.py",
    "tests/unit/test_report.py::test_two_hundred_labels_stay_small",
    "tests/unit/test_reproduce.py::test_going_on_after_an_interruption",
)
