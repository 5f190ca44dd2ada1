port=$(node -e "const s=require('net').createServer().listen(0,()=>{console.log(s.address().port);s.close()})")
redis-server --port $port --bind 127.0.0.1 --save '' --daemonize yes --pidfile "$PWD/redis.pid" --dir "$PWD" >/dev/null; sleep 0.5
c="redis-cli -p $port"
shown_command='redis-cli'
screen 1 62 24 "$c" 'ZADD board 310 mira 275 jonas 420 noor' @Enter 'ZREVRANGE board 0 -1 WITHSCORES' @Enter 'ZINCRBY board 150 jonas' @Enter 'ZREVRANK board jonas' @Enter 'SET session:42 open EX 60' @Enter 'TTL session:42' @Enter 'INCR visits' @Enter 'LPUSH jobs resize thumbnail' @Enter
shown_command=redis-cli
screen 2 62 24 "$c" 'XADD tides "*" port oban metres 3.1' @Enter 'XADD tides "*" port brest metres 6.2' @Enter 'XRANGE tides - + COUNT 1' @Enter 'GEOADD ports 5.32 60.39 bergen -5.47 56.41 oban' @Enter 'GEODIST ports bergen oban km' @Enter 'HSET boat name petrel crew 4' @Enter 'HGETALL boat' @Enter 'PFADD seen a b c a' @Enter
kill "$(cat redis.pid)"
