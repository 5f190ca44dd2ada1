sample main.rs broken.rs
export HOME="$real_home" # rustup finds its toolchain there
rec 1; run 'rustc main.rs && ./main'
rec 2; shown 'rustc broken.rs' 'rustc --color always broken.rs'
