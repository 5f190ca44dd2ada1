mkdir -p harbour/{charts,logs,crew}; cd harbour; touch charts/{oban,barra,canna}.svg notes.md
export XDG_CONFIG_HOME="$PWD/../config" XDG_DATA_HOME="$PWD/../share"; mkdir -p "$XDG_CONFIG_HOME/fish" "$XDG_DATA_HOME"
cat > "$XDG_CONFIG_HOME/fish/config.fish" <<'F'
set -g fish_greeting 'Welcome to fish, the friendly interactive shell'
function fish_prompt; set_color brgreen; echo -n 'ada '; set_color brblue; echo -n (basename $PWD); set_color normal; echo -n ' ❯ '; end
F
shown_command=fish
screen 1 72 22 fish ~1 'for port in oban barra canna' @Enter 'echo "chart of $port: "(string upper $port)' @Enter 'end' @Enter 'set miles 24.5 31 38.5; math (string join + $miles)' @Enter 'count charts/*.svg' @Enter 'string match -r "(\d+)-(\d+)" "leg 12-48"' @Enter 'gti status' @Enter ~1.5 'echo $status' @Enter
screen 2 76 22 fish ~1 'git --version' @Enter 'git --' @Tab ~2
sed -i '1s/.*/$ fish/' "$tools/recordings/fish-2.txt"
