rec 1
sqlite3 log.db "create table voyage(day integer primary key, port text, miles real); insert into voyage(port,miles) values('Oban',0),('Tobermory',24.5),('Canna',31),('Barra',38.5),('St Kilda',56),('Lochmaddy',49.5);"
run 'sqlite3 log.db .schema'; blank
run 'sqlite3 -box log.db "SELECT day, port, miles,
         sum(miles) OVER (ORDER BY day) AS so_far FROM voyage"'
screen 2 70 22 'sqlite3 log.db' '.mode table' @Enter 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i * 3 FROM n LIMIT 6) SELECT i FROM n;' @Enter "SELECT json_extract('{\"tide\":[1,3]}', '\$.tide[1]') AS tide;" @Enter 'EXPLAIN QUERY PLAN SELECT port FROM voyage WHERE day = 4;' @Enter
