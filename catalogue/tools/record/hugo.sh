mkdir -p content/posts layouts/_default; cp "$tools/samples/hugo/config.toml.txt" config.toml
for n in $(seq 1 40); do printf -- '---\ntitle: "Tide log %02d"\ndate: 2026-%02d-%02d\ntags: [tides]\n---\nHigh water at **%02d:12**, calm sea.\n' $n $((1 + n % 9)) $((1 + n % 27)) $((n % 24)) > content/posts/log-$n.md; done
cp "$tools/samples/hugo/list.html.txt" layouts/_default/list.html; cp "$tools/samples/hugo/single.html.txt" layouts/_default/single.html
rec 1; shown 'hugo --minify' 'hugo --minify 2>&1'; blank; shown 'hugo list all | head -n 4' 'hugo list all | head -n 4 | cut -d, -f1,3,4 | cut -c1-70'
sed -i 's/hugo list all | head -n 4/hugo list all | head -n 4 | cut -d, -f1,3,4/' "$out"
cp public/index.html "$tools/recordings/hugo-2.html"
