"""Compresses FILE to RESULT with gzip: the same bytes whenever and wherever the program is built.

usage: compress.py FILE RESULT
"""
import gzip, sys

with open(sys.argv[1], "rb") as file:
    compressed = gzip.compress(file.read(), 9, mtime=0)
with open(sys.argv[2], "wb") as result:
    result.write(compressed)
