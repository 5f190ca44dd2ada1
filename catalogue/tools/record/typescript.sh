sample voyage.ts voyage-fixed.ts
rec 1; shown 'tsc --strict --noEmit voyage.ts' 'tsc --pretty --strict --noEmit --target es2022 voyage.ts'
mv voyage-fixed.ts harbours.ts; rm voyage.ts
rec 2; shown 'tsc --declaration harbours.ts && cat harbours.d.ts' 'tsc --declaration --target es2022 --module esnext harbours.ts && cat harbours.d.ts'
