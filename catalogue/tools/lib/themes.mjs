/** The themes of frames: background and text colours, the syntax highlighter's theme, and the 16 ANSI colours (`a`). */
export const themes = {
  night: {
    ground: '#10151f',
    ink: '#dfe6ee',
    bar: '#1a2130',
    mute: '#8793a6',
    code: 'github-dark-default',
    a: '#2b3444 #ff7b86 #7ee0a1 #f2cc7b #7ab7ff #d6a4ff #6fdfe6 #d4dbe6 #6b788d #ff9aa2 #9df0b9 #ffdf9e #a3cdff #e4c3ff #9af0f4 #ffffff'.split(
      ' ',
    ),
  },
  plum: {
    ground: '#1d1527',
    ink: '#eae2f4',
    bar: '#2a1f38',
    mute: '#a493b8',
    code: 'catppuccin-mocha',
    a: '#3b2d4d #ff7f9f #95e6a8 #f7d27e #8db4ff #e29bf5 #7fe3df #ddd2ea #7d6b92 #ff9fb8 #b4f2c2 #ffe3a6 #b0ccff #efc1fb #a9f0ec #ffffff'.split(
      ' ',
    ),
  },
  forest: {
    ground: '#0e1a17',
    ink: '#dcebe4',
    bar: '#16271f',
    mute: '#84a296',
    code: 'everforest-dark',
    a: '#27413a #f58b7c #8fdc8a #e6cf7a #7cc4e8 #d7a6d9 #72dcc4 #cfe0d8 #64857a #ffa99c #aef0a8 #f6e3a0 #a2dbf5 #e9c5ea #9aeedb #ffffff'.split(
      ' ',
    ),
  },
  paper: {
    ground: '#fdfcf9',
    ink: '#22303c',
    bar: '#f0ede5',
    mute: '#7b7c78',
    code: 'github-light-default',
    a: '#22303c #c22f3d #1b7f46 #946200 #1f5fbf #8c3fb3 #0b7a85 #5d6670 #8a8f94 #d94452 #23995a #b07a0b #3a7ade #a556cc #1597a3 #22303c'.split(
      ' ',
    ),
  },
};
