sample tide.c
shown_command='vim tide.c'
screen 1 64 24 'vim -u NONE -N tide.c' ':syntax on | set number hlsearch background=dark laststatus=2 ruler | colorscheme desert' @Enter '/height' @Enter '13G' 'V3j'
shown_command='vim -O tide.c'
screen 2 76 24 'vim -u NONE -N tide.c' ':syntax on | set number background=dark laststatus=2 | colorscheme slate | 11' @Enter ':help motion.txt' @Enter ~0.5 '/Up-down motions' @Enter 'zt' ':resize 11' @Enter
