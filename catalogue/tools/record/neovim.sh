sample init.lua tide.c
shown_command='nvim init.lua'
screen 1 66 24 'nvim -u NONE init.lua' ':set number termguicolors laststatus=3 cursorline | syntax on | colorscheme slate' @Enter '7G' ':lua print(vim.inspect({ lua = _VERSION, jit = jit.version }))' @Enter
shown_command='nvim'
screen 2 80 26 'nvim -u NONE tide.c' ':set number termguicolors | syntax on | colorscheme slate | 12' @Enter ':belowright 11split | terminal cc -o tide tide.c -lm && ./tide' @Enter ~2.5
