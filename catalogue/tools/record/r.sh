sample explore.R
rec 1; shown 'Rscript -e "summary(lm(dist ~ speed, cars))"' "Rscript -e 'summary(lm(dist ~ speed, cars))'"
Rscript explore.R >/dev/null 2>&1; cp volcano.png "$tools/recordings/r-2.png"; cp panels.png "$tools/recordings/r-3.png"
