sample tide.test.js; echo '{"type":"module"}' > package.json
rec 1; shown 'node --test' 'FORCE_COLOR=1 node --test --test-reporter=spec'
shown_command=node
screen 2 74 22 'node' ~0.5 'const url = new URL("https://example.org/waves?q=tall")' @Enter 'url.searchParams.get("q")' @Enter '[3, 1, 2].toSorted((a, b) => a - b)' @Enter 'await Promise.all([1, 2].map(async (n) => n ** 10))' @Enter 'structuredClone(new Map([["tide", 3]]))' @Enter 'Object.groupBy ? "new" : "not yet"' @Enter 'await fetch("data:,hello%20wave").then((r) => r.text())' @Enter 'process.versions.v8' @Enter ~0.4
