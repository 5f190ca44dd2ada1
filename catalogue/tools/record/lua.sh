sample queue.lua
rec 1; run 'lua5.4 queue.lua'; sed -i '1s/lua5.4/lua/' "$out"
shown_command='lua'
screen 2 70 22 'lua5.4' 't = {10, 20, 30, name = "swell"}' @Enter '#t, t.name' @Enter 'for k, v in pairs(t) do print(k, v) end' @Enter '("groundswell"):gsub("%l", string.upper, 6)' @Enter '7 // 2, 7 / 2, 7 % 2, 1 << 10' @Enter 'select("#", table.unpack(t))' @Enter 'pcall(error, "a rock ahead")' @Enter 'collectgarbage("count") < 64' @Enter
