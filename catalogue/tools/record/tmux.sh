# Runs tmux inside tmux: the outer one is the recorded terminal.
cp "$tools/samples/vim/tide.c.txt" tide.c; cc -o tide tide.c -lm; export PS1='\[\e[1;32m\]ada\[\e[0m\]:\w$ '
cat > inner.conf <<'C'
set -g status-style "bg=green,fg=black"
set -g default-command "bash --norc --noprofile"
set -g status-right "%H:%M  tide watch"
C
shown_command='tmux'
screen 1 84 25 "env -u TMUX tmux -L inner-$$ -f inner.conf new -s tides" ~1 'vim -u NONE tide.c' @Enter ~0.6 ':syntax on' @Enter @C-b '%' ~0.5 'clear; ./tide' @Enter ~0.4 @C-b '"' ~0.5 'clear; git --version; uname -sr; nproc' @Enter ~0.5
screen 2 84 25 "env -u TMUX tmux -L inner2-$$ -f inner.conf new -s harbour" ~1 'clear; ls -la | head' @Enter @C-b c ~0.3 'clear; ./tide' @Enter @C-b ',' @C-u 'tides' @Enter @C-b c ~0.3 'clear; tmux list-keys -T copy-mode-vi | head -n 14' @Enter ~0.5 @C-b '?' ~0.6
sed -i '1s/.*/$ tmux/' "$tools/recordings/tmux-2.txt"
tmux -L inner-$$ kill-server 2>/dev/null; tmux -L inner2-$$ kill-server 2>/dev/null
