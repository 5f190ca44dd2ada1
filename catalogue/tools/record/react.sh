sample tides.jsx; ln -s "$tools/node_modules" node_modules
rec 2; shown 'node tides.js' 'esbuild tides.jsx --jsx=automatic --bundle --platform=node --outfile=tides.cjs --log-level=error && NODE_ENV=production node tides.cjs'
