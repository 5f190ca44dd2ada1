# A separate process namespace, so htop shows only the processes of this recording.
cat > crew.sh <<'B'
mount -t proc proc /proc 2>/dev/null
for name in pilot lookout engine; do (exec -a "$name" python3 -c "
import time
while True:
    sum(i * i for i in range(60000)); time.sleep(0.05)") & done
(exec -a galley sleep 600) & (exec -a cabin sleep 600) &
redis-server --port 0 --save '' >/dev/null & 
sleep 0.5
exec htop -d 8
B
shown_command=htop
screen 1 88 24 "unshare --pid --fork --mount env HOME=$PWD PYENV_VERSION=system PATH=/usr/bin:/bin bash crew.sh" ~4
screen 2 88 24 "unshare --pid --fork --mount env HOME=$PWD PATH=/usr/bin:/bin bash crew.sh" ~3 @F2 ~1 @Right @Down ~1
sed -i '1s/.*/$ htop (setup)/' "$tools/recordings/htop-2.txt"
