"""stand-in"""
from summarkov.events.moments import join_moments
from summarkov.events.attributes import join_attributes
from summarkov.events import EventSequences
import numpy as np
def map_events(chunks, folder, about):
    chunks=list(chunks); a=about()
    off=[np.zeros(1,np.int64)]; n=0
    for c in chunks: off.append(c.offsets[1:]+n); n+=len(c.codes)
    m=join_moments([(len(c.codes),c.moments) for c in chunks])
    if m is not None:
        from dataclasses import replace
        m=replace(m,has_empty=any(c.moments is not None and c.moments.has_empty for c in chunks))
    return EventSequences(np.concatenate([c.codes for c in chunks]),np.concatenate(off),chunks[0].labels,[i for c in chunks for i in c.ids],moments=m,
      attributes=join_attributes([c.attributes for c in chunks]),weights=None if chunks[0].weights is None else np.concatenate([c.weights for c in chunks]),ends=np.concatenate([c.complete for c in chunks]),tied_order=a["tied_order"],origin=a["origin"])
