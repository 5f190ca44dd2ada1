sample server.mjs; ln -s "$tools/node_modules" node_modules
port=$(node -e "const s=require('net').createServer().listen(0,()=>{console.log(s.address().port);s.close()})")
PORT=$port node server.mjs > server.log 2>&1 & pid=$!; sleep 1.5; u=localhost:$port
rec 1; shown "curl -i $u/tides/oban" "curl -si $u/tides/oban | grep -v -i etag"; blank; shown "curl $u/tides/atlantis" "curl -s $u/tides/atlantis"
rec 2; shown "node server.mjs" "true"; cat server.log >>"$out"; blank; shown "curl -i --json '{\"port\":\"ayr\",\"metres\":2.9}' $u/tides" "curl -si --json \"{\\\"port\\\":\\\"ayr\\\",\\\"metres\\\":2.9}\" $u/tides"; blank; shown "curl $u/tides" "curl -s $u/tides"
kill $pid
