sample server.mjs; ln -s "$tools/node_modules" node_modules
port=$(node -e "const s=require('net').createServer().listen(0,()=>{console.log(s.address().port);s.close()})")
PORT=$port node server.mjs > server.log 2>&1 & pid=$!; sleep 1.5; u=localhost:$port
rec 1; shown "curl -i $u/tides/oban" "curl -si $u/tides/oban"; blank; shown "curl $u/tides/a" "curl -s $u/tides/a"
rec 2; shown "node server.mjs" "true"; cut -c1-118 server.log | sed "s/\"hostname\":\"[^\"]*\"/\"hostname\":\"demo\"/" | head -n 9 >>"$out"; blank; shown "curl $u/routes" "curl -s $u/routes"
kill $pid
