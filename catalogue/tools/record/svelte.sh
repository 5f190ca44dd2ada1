sample Counter.svelte; ln -s "$tools/node_modules" node_modules; echo '{"type":"module"}' > package.json
cat > compile.js <<'J'
import { readFileSync } from 'node:fs';
import { compile } from 'svelte/compiler';
console.log(compile(readFileSync('Counter.svelte', 'utf8'), { filename: 'Counter.svelte' }).js.code);
J
rec 2; run 'node compile.js'
