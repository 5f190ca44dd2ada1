sample figures.py; MPLCONFIGDIR="$PWD" /usr/bin/python3 figures.py && cp field.png "$tools/recordings/matplotlib-1.png" && cp panels.png "$tools/recordings/matplotlib-2.png"
