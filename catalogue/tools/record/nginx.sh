port=$(node -e "const s=require('net').createServer().listen(0,()=>{console.log(s.address().port);s.close()})")
mkdir -p site logs; echo '<h1>Tides</h1>' > site/index.html; chmod -R a+rX "$(dirname "$PWD")"
sample nginx.conf; sed -i "s/8080/$port/" nginx.conf
run_nginx() { nginx -p "$PWD" -c "$PWD/nginx.conf" -e logs/error.log "$@"; }
rec 1
shown 'nginx -t' 'nginx -p $PWD -c $PWD/nginx.conf -e logs/error.log -t 2>&1 | sed "s#$PWD/##g"'; blank
run_nginx
shown "curl -I localhost:$port" "curl -sI localhost:$port"
rec 2
for path in / /tides /missing /api/x /tides; do curl -s -o /dev/null "localhost:$port$path"; done
shown "curl -si localhost:$port/tides" "curl -si localhost:$port/tides"; blank
shown "curl localhost:$port/status" "curl -s localhost:$port/status"; blank
shown 'tail -n 5 logs/access.log' 'head -n 6 logs/access.log | tail -n 5'
run_nginx -s stop
