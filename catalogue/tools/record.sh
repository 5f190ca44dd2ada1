#!/usr/bin/env bash
# Runs the real tools and stores their output in recordings/: record.sh [product-id …] (without ids, all scripts in
# record/). The first line of a recording is the command. Colours are stored as ANSI sequences.
set -uo pipefail
tools="$(cd "$(dirname "$0")" && pwd)"
export real_home="$HOME" tools LC_ALL=C.UTF-8 TZ=UTC COLORTERM=truecolor TERM=xterm-256color PAGER=cat GIT_PAGER=cat
export GIT_CONFIG_GLOBAL="$tools/samples/git/gitconfig.txt" GIT_CONFIG_SYSTEM=/dev/null
export npm_config_update_notifier=false NO_UPDATE_NOTIFIER=1
PATH="$tools/node_modules/.bin:$PATH"

# sample FILE…: copies samples/<id>/FILE.txt into the working folder as FILE.
sample() { for file in "$@"; do mkdir -p "$(dirname "$file")"; cp "$tools/samples/$id/$file.txt" "$file"; done; }
# rec N: starts recordings/<id>-N.txt, to which the functions below append.
rec() { out="$tools/recordings/$id-$1.txt"; : >"$out"; }
# run COMMAND: appends the command line and its output. shown TEXT COMMAND: appends TEXT instead of the command line.
run() { printf '$ %s\n' "$1" >>"$out"; bash -c "$1" >>"$out" 2>&1; }
shown() { printf '$ %s\n' "$1" >>"$out"; bash -c "$2" >>"$out" 2>&1; }
blank() { echo >>"$out"; }
# screen N COLUMNS ROWS COMMAND KEY…: runs a terminal program in tmux, types the keys and records the screen.
# A KEY is typed unchanged, except that @Name presses the key with this name, and ~2 waits for two seconds.
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
