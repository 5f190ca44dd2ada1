mkdir src; ln -s "$tools/node_modules" node_modules; echo '{"name":"tide-app","private":true,"type":"module"}' > package.json
cp "$tools/samples/vite/main.js.txt" src/main.js; cp "$tools/samples/vite/chart.js.txt" src/chart.js; echo 'body { margin: 0; font-family: system-ui } .tide { fill: teal }' > src/style.css
echo '<!doctype html><html lang="en"><title>Tides</title><div id="app"></div><script type="module" src="/src/main.js"></script></html>' > index.html
rec 1; shown 'npx vite build' 'FORCE_COLOR=1 vite build 2>&1'
screen 2 70 16 'vite --host 127.0.0.1 --port 0' ~2.5 'h' @Enter ~1
sed -i '1s/.*/$ npx vite/' "$tools/recordings/vite-2.txt"
