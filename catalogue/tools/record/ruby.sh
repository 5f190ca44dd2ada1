sample crews.rb
rec 1; run 'ruby crews.rb'
shown_command='irb --simple-prompt'
export IRBRC=/dev/null
screen 2 74 22 'irb --simple-prompt --nosingleline --noautocomplete' '%w[swell crest trough].map(&:capitalize)' @Enter '(1..Float::INFINITY).lazy.select(&:even?).map { _1 ** 2 }.first(5)' @Enter '"explore the wave".tr("a-y", "b-z").reverse' @Enter 'wave = ->(t) { Math.sin(t).round(3) }' @Enter '[0, 0.5, 1.0].map(&wave)' @Enter '5.then { |n| (1..n).inject(:*) }' @Enter '{ tide: 3, moon: 15 }.to_h { |k, v| [v, k] }' @Enter ~1
