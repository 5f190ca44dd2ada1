#!/usr/bin/env bash
# Runs the real tools and keeps what they print: record.sh [product-id …] (all of record/ without arguments).
# A recording's first line is the command; colours are kept as ANSI sequences.
set -uo pipefail
tools="$(cd "$(dirname "$0")" && pwd)"
export real_home="$HOME" tools LC_ALL=C.UTF-8 TZ=UTC COLORTERM=truecolor TERM=xterm-256color PAGER=cat GIT_PAGER=cat
export GIT_CONFIG_GLOBAL="$tools/samples/git/gitconfig.txt" GIT_CONFIG_SYSTEM=/dev/null
export npm_config_update_notifier=false NO_UPDATE_NOTIFIER=1
PATH="$tools/node_modules/.bin:$PATH"

# sample FILE…: copies samples/<id>/FILE.txt into the working folder as FILE.
sample() { for file in "$@"; do mkdir -p "$(dirname "$file")"; cp "$tools/samples/$id/$file.txt" "$file"; done; }
# rec N: what follows goes into recordings/<id>-N.txt.
rec() { out="$tools/recordings/$id-$1.txt"; : >"$out"; }
# run COMMAND: the command line as a person would type it, then its output. quiet N SHOWN COMMAND shows another text.
run() { printf '$ %s\n' "$1" >>"$out"; bash -c "$1" >>"$out" 2>&1; }
shown() { printf '$ %s\n' "$1" >>"$out"; bash -c "$2" >>"$out" 2>&1; }
blank() { echo >>"$out"; }
# screen N COLUMNS ROWS COMMAND KEY…: a terminal program on a real terminal (tmux), then its screen.
# A KEY is typed as it is; @Name is a key's name; ~2 waits two seconds.
screen() {
  local number=$1 columns=$2 rows=$3 command=$4 pane="catalogue-$id-$1"
  shift 4
  local mux=(tmux -L "$pane" -f "$tools/record/tmux.conf")
  "${mux[@]}" new-session -d -x "$columns" -y "$rows" -s main "$command"
  sleep 1
  for key in "$@"; do
    case "$key" in
      ~*) sleep "${key#\~}" ;;
      @*) "${mux[@]}" send-keys -t main "${key#@}" ;;
      # A semicolon at the end would end the tmux command.
      *';') "${mux[@]}" send-keys -t main -l -- "${key%;}\\;" ;;
      *) "${mux[@]}" send-keys -t main -l -- "$key" ;;
    esac
    sleep 0.12
  done
  sleep 0.6
  rec "$number"
  printf '$ %s\n' "${shown_command:-$command}" >>"$out"
  "${mux[@]}" capture-pane -t main -e -p | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >>"$out"
  "${mux[@]}" kill-session -t main 2>/dev/null
  shown_command=
}

[ $# -gt 0 ] || set -- $(cd "$tools/record" && ls *.sh | sed 's/\.sh$//')
for id in "$@"; do
  folder="$(mktemp -d)/demo"
  mkdir -p "$folder"
  ( cd "$folder" && export HOME="$folder" && . "$tools/record/$id.sh" )
  rm -rf "$(dirname "$folder")"
  echo "recorded $id"
done
