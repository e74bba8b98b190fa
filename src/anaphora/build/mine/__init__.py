"""Contrastive test sets mined from parallel documents (ContraPro, Müller et al. 2018, §3.1).

read → annotate → align → link → filter → contrast → balance. A phenomenon links, filters and contrasts, one document at
a time; everything else is the same for every phenomenon. `pipeline.py` is the place to start reading.
"""
