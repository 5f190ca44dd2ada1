sample tides.js; ln -s "$tools/node_modules" node_modules; echo '{"type":"module"}' > package.json
rec 2; shown 'node tides.js' 'NODE_ENV=production node tides.js'
