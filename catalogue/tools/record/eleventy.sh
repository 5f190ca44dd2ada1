mkdir -p notes _includes
ln -s "$tools/node_modules" node_modules; echo '{"type":"module"}' > package.json
i=0; for title in Anchors Buoys Charts Depths Eddies Fog Gulls Harbours; do i=$((i+1)); printf -- '---\ntitle: %s\ndate: 2026-0%d-1%d\ntags: note\nlayout: note.njk\n---\nA short note about **%s**, written in Markdown.\n' $title $i $i "$(echo $title | tr A-Z a-z)" > notes/$(echo $title | tr A-Z a-z).md; done
echo '<!doctype html><title>{{ title }}</title><h1>{{ title }}</h1>{{ content | safe }}' > _includes/note.njk
cp "$tools/samples/eleventy/index.njk.txt" index.njk
rec 1; shown 'npx @11ty/eleventy' 'FORCE_COLOR=1 eleventy 2>&1'
cp _site/index.html "$tools/recordings/eleventy-2.html"
