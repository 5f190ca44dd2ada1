sample tides.py
rec 1; run '/usr/bin/python3 tides.py'; sed -i '1s#/usr/bin/##' "$out"
shown_command='python3'
screen 2 76 24 '/usr/bin/python3' 'squares = {n: n * n for n in range(1, 6)}' @Enter 'squares' @Enter '[f"{w:>8}" for w in "explore the wave".split()]' @Enter 'from fractions import Fraction' @Enter 'sum(Fraction(1, n) for n in range(1, 8))' @Enter '2 ** 200' @Enter 'from collections import Counter' @Enter 'Counter("mississippi").most_common(2)' @Enter 'print(f"{1e6:,.0f} and {7 / 9:.1%}")' @Enter 'first, *rest = sorted({"swell", "crest", "trough"})' @Enter 'rest' @Enter
