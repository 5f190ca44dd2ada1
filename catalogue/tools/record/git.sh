git init -q
day=1
commit() { export GIT_AUTHOR_DATE="2026-03-$(printf %02d $day)T10:00:00Z" GIT_COMMITTER_DATE="2026-03-$(printf %02d $day)T10:00:00Z"; day=$((day + 1)); git add -A && git commit -q -m "$1"; }
printf 'const tide = 3;\n\nexport function height(hour) {\n  return Math.sin(hour) * tide;\n}\n' > tide.js; commit 'Predict the height of the tide'
echo '# Tide table' > README.md; commit 'Explain what this is'
git checkout -q -b moon; printf 'export const phase = 0.52;\n' > moon.js; commit 'Take the moon into account'; printf 'export const phase = 0.52;\nexport const age = 15;\n' > moon.js; commit 'Keep the age of the moon'
git checkout -q main; echo 'Run it with Node.' >> README.md; commit 'Say how to run it'
git tag v1.0; GIT_COMMITTER_DATE="2026-03-07T10:00:00Z" GIT_AUTHOR_DATE="2026-03-07T10:00:00Z" git merge -q --no-ff moon -m 'Merge branch moon'; day=8
git checkout -q -b harbours; echo 'export const harbours = ["Brest", "Ayr"];' > harbours.js; commit 'Name the first harbours'
git checkout -q main; echo '*.log' > .gitignore; commit 'Ignore logs'
rec 1
run 'git log --oneline --graph --all'
blank
run 'git branch -v'
printf 'const tide = 3.2;\n\n/** Metres above chart datum at an hour of the day. */\nexport function height(hour, phase = 0) {\n  return Math.sin(hour + phase) * tide;\n}\n' > tide.js
echo 'draft' > notes.txt
rec 2
run 'git status --short --branch'
blank
run 'git diff'
