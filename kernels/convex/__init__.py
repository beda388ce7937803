"""Distance and depth of two convex shapes.

ccd.py is the loop over support points (support.py), search.py its state; distance_phases.py and depth_phases.py are
what a turn does, with the geometry of gjk.py and epa.py, in the memory of a worker, which memory.py lays out.
multiccd.py and polyhedra.py find several contacts of flat faces.
"""
