ffmpeg -v error -f lavfi -i "mandelbrot=size=1280x720:rate=25:start_scale=0.9:end_scale=0.0006:end_pts=200:start_x=-0.743643:start_y=-0.131825" -f lavfi -i "sine=frequency=220:beep_factor=4" -t 8 -c:v libx264 -preset veryfast -pix_fmt yuv420p -c:a aac dive.mp4
rec 1
shown 'ffprobe -hide_banner dive.mp4' 'ffprobe -hide_banner dive.mp4 2>&1 | cut -c1-104'; blank
shown 'ffmpeg -i dive.mp4 -vf "scale=640:-2,fps=12" -crf 30 small.webm' 'ffmpeg -hide_banner -nostdin -v info -i dive.mp4 -vf "scale=640:-2,fps=12" -c:v libvpx-vp9 -cpu-used 8 -crf 30 -an small.webm 2>&1 | tr "\r" "\n" | grep -E "^(Output|  Stream|frame=.*L|video:)|Stream #0:0 ->" | cut -c1-104'
# FFmpeg draws the second picture. The last command replaces the contact sheet by a frame with waveform, vectorscope
# and histogram.
ffmpeg -v error -y -i dive.mp4 -filter_complex "fps=1,scale=426:266:force_original_aspect_ratio=increase,crop=426:266,tile=3x3:nb_frames=8,scale=1280:800" -frames:v 1 "$tools/recordings/ffmpeg-2.png"
ffmpeg -v error -y -ss 6.4 -i dive.mp4 -filter_complex "[0:v]scale=960:540,split=4[a][b][c][d];[b]waveform=mode=column:intensity=0.1,scale=320:266[w];[c]format=yuv444p,vectorscope=mode=color3,scale=320:266[v];[d]histogram,scale=320:268[h];[w][v][h]vstack=3[s];[a]scale=1422:800,crop=960:800[p];[p][s]hstack" -frames:v 1 "$tools/recordings/ffmpeg-2.png"
