sample theme.scss broken.scss
rec 1; shown 'sass theme.scss' 'sass --no-source-map theme.scss'
rec 2; shown 'sass broken.scss' 'sass --color broken.scss'; blank
shown 'sass --style=compressed theme.scss | wc -c' 'sass --style=compressed theme.scss | wc -c'; blank; run 'sass --version'
sed -i "s#file:///[^ ]*/##; s#$PWD/##" "$out"
