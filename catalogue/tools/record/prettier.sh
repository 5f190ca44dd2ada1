sample tide-table.jsx harbours.css; cp tide-table.jsx before.jsx
rec 1; shown 'npx prettier tide-table.jsx' 'prettier --single-quote tide-table.jsx'
rec 2; shown 'npx prettier --check .' 'prettier --check . 2>&1'; blank; shown 'npx prettier --write .' 'FORCE_COLOR=1 prettier --write . 2>&1'; blank; shown 'cat harbours.css' 'cat harbours.css'
