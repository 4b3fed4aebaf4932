"""The paper's tables and case studies, and the studies behind what the documents claim.

Nothing of this is in the wheel. ``python -m paper --help`` lists the commands.
"""
