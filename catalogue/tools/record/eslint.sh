sample tides.js eslint.config.js; ln -s "$tools/node_modules" node_modules; echo '{"type":"module"}' > package.json
rec 1; shown 'npx eslint tides.js' 'eslint --color tides.js 2>&1 | sed "s#$PWD/##"'
rec 2; shown 'npx eslint --fix tides.js' 'eslint --color --fix tides.js 2>&1 | sed "s#$PWD/##"'; blank; shown 'git diff --no-index --stat before/tides.js tides.js' 'mkdir before; cp $tools/samples/eslint/tides.js.txt before/tides.js; git diff --no-index -U0 before/tides.js tides.js | tail -n +5'
sed -i 's/--stat before/-U0 before/' "$out"
