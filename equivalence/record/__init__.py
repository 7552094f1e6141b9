"""Records: truths and runs that one host keeps for another. Imports no framework.

truths: the reference's side of a case, read from a record or written to one.
candidates: the candidate's run, read from a record or written to one.
fingerprint: whether a record belongs to exactly this case.
codec: a reference as arrays and JSON, and back.
store: the files: packs, reads and checks them.
"""
