cat > server.mjs <<'J'
import { createServer } from 'node:http';
createServer((q, r) => {
  r.setHeader('cache-control', 'max-age=60');
  if (q.method === 'POST') { r.statusCode = 201; r.setHeader('location', '/tides/7'); q.pipe(r); return; }
  r.setHeader('content-type', 'application/json').end('{"port":"Oban","high":"04:12","metres":3.1}\n');
}).listen(Number(process.argv[2]), 'localhost', () => console.log('up'));
J
port=$(node -e "const s=require('net').createServer().listen(0,()=>{console.log(s.address().port);s.close()})")
node server.mjs $port >/dev/null & pid=$!; sleep 0.6
u=localhost:$port
rec 1
shown "curl -i $u/tides/oban" "curl -s -i $u/tides/oban"; blank
shown "curl -i --json '{\"port\":\"Ayr\"}' $u/tides" "curl -s -i --json '{\"port\":\"Ayr\"}' $u/tides"
rec 2
shown "curl -v --compressed $u/tides/oban" "curl -sS -v --compressed $u/tides/oban 2>&1"
blank; run "curl -sw '%{http_code} in %{time_total}s, %{size_download} bytes\n' -o tide.json $u/tides"
kill $pid
