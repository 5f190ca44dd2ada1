sample build.dot
rec 2; shown 'cat build.dot' 'cat build.dot'; blank; run 'dot -Tplain build.dot | head -n 5'; blank; run 'gc -a build.dot'; blank; run 'dot -V'
sample map.dot
dot -Tsvg build.dot > "$tools/recordings/graphviz-1.svg"
neato -Tsvg map.dot > "$tools/recordings/graphviz-3.svg"
