cp "$tools/samples/imagemagick/compose.sh.txt" compose.sh; bash compose.sh
cp sheet.png "$tools/recordings/imagemagick-1.png"
rec 2
shown 'magick identify -verbose sheet.png | head -n 12' 'identify -verbose sheet.png | head -n 12'; blank
run 'convert logo: -resize 25% -format "%wx%h, %k colours\n" info:'; blank
run 'convert -list format | grep -c rw'; blank
run 'convert rose: -resize 6x4! txt: | head -n 5'
sed -i 's/magick identify/identify/' "$out"
