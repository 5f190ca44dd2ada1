import Phaser from 'phaser';

// A brick wall with flying particles.
globalThis.sceneReady = false;
new Phaser.Game({
  type: Phaser.CANVAS,
  parent: 'app',
  width: 1280,
  height: 800,
  backgroundColor: '#140a2e',
  banner: false,
  audio: { noAudio: true },
  scene: {
    create() {
      const glow = this.make.graphics({ add: false });
      for (let r = 16; r > 0; r--) glow.fillStyle(0xffffff, 0.07).fillCircle(16, 16, r);
      glow.generateTexture('spark', 32, 32);
      const pen = this.add.graphics();
      pen.fillGradientStyle(0x2b1166, 0x2b1166, 0x0a0520, 0x0a0520).fillRect(0, 0, 1280, 800);
      for (let i = 0; i < 120; i++)
        pen.fillStyle(0xffffff, 0.15 + (i % 5) * 0.1).fillCircle((i * 397) % 1280, (i * 211) % 800, 1 + (i % 3) * 0.6);
      const colors = [0xff4d6d, 0xff9e00, 0xffd60a, 0x52d273, 0x3fa7ff, 0xb07cff];
      for (let row = 0; row < 6; row++)
        for (let column = 0; column < 12; column++) {
          if ((row * 5 + column * 3) % 11 === 0 || (row > 2 && column > 5 && column < 9)) continue;
          pen.fillStyle(colors[row]).fillRoundedRect(52 + column * 99, 100 + row * 48, 91, 40, 9);
          pen.fillStyle(0xffffff, 0.25).fillRoundedRect(58 + column * 99, 105 + row * 48, 79, 9, 4);
        }
      pen
        .fillStyle(0xf4f1ff)
        .fillRoundedRect(560, 718, 190, 26, 13)
        .fillStyle(0x7b3fe4)
        .fillRoundedRect(600, 723, 110, 16, 8);
      for (let i = 0; i < 14; i++)
        pen
          .fillStyle(0xfff3b0, 0.05 + i * 0.05)
          .fillCircle(700 - i * 0 + (13 - i) * -9 + 60, 330 + (13 - i) * 27, 4 + i * 0.7);
      pen.fillStyle(0xffffff).fillCircle(762, 326, 15);
      for (const [x, y, tint] of [
        [762, 300, 0xffd60a],
        [650, 260, 0x52d273],
      ])
        this.add.particles(x, y, 'spark', {
          speed: { min: 40, max: 320 },
          scale: { start: 1.1, end: 0 },
          lifespan: 900,
          tint,
          quantity: 4,
          frequency: 20,
        });
      const label = { fontFamily: 'sans-serif', fontSize: '36px', fontStyle: 'bold', color: '#ffffff' };
      this.add.text(52, 32, 'LEVEL 3', label);
      this.add.text(1228, 32, '08 450', label).setOrigin(1, 0);
      this.time.delayedCall(700, () => {
        this.scene.pause();
        globalThis.sceneReady = true;
      });
    },
  },
});
