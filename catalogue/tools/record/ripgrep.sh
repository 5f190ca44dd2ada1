cp -r "$tools/samples" code; mkdir code/.git; find code -name '*.txt' -exec bash -c 'mv "$1" "${1%.txt}"' _ {} \;
cd code
rec 1; shown "rg -n harbour -g '!vim' -g '!ansible'" "rg --color always --heading -n --sort path harbour -g '!vim' -g '!ansible' | head -n 30"
rec 2; shown "rg -c harbour" "rg --color always -c harbour --sort path"; blank
shown "rg -o '\d+ (ms|metres|miles)' --no-filename | sort -u" "rg --color always -oI '\d+ (ms|metres|miles)' | sort -u"; blank
shown "rg -l 'func|def|fn ' | wc -l" "rg -l 'func|def|fn ' | wc -l"; blank
shown "rg -q --stats wave" "rg -q --stats wave"
