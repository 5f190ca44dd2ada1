sample compare.py report.py; MPLCONFIGDIR="$PWD" /usr/bin/python3 compare.py && cp boundaries.png "$tools/recordings/scikit-learn-1.png"
rec 2; run '/usr/bin/python3 report.py'; sed -i '1s#/usr/bin/##' "$out"
