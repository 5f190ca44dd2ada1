import Phaser from 'phaser';

// A small level of a platform game. The scene draws all of its textures.
globalThis.sceneReady = false;
function texture(scene, key, width, height, draw) {
  const pen = scene.make.graphics({ add: false });
  draw(pen);
  pen.generateTexture(key, width, height);
}
new Phaser.Game({
  type: Phaser.CANVAS,
  parent: 'app',
  width: 1280,
  height: 800,
  backgroundColor: '#8fd3f4',
  banner: false,
  audio: { noAudio: true },
  physics: { default: 'arcade', arcade: { gravity: { y: 700 } } },
  scene: {
    create() {
      texture(this, 'ground', 64, 64, (p) =>
        p
          .fillStyle(0x8a5a3b)
          .fillRect(0, 0, 64, 64)
          .fillStyle(0x6cbf4b)
          .fillRect(0, 0, 64, 20)
          .fillStyle(0x4e9a36)
          .fillRect(0, 20, 64, 6)
          .fillStyle(0x754a2f)
          .fillRect(10, 36, 14, 8)
          .fillRect(40, 48, 12, 8),
      );
      texture(this, 'gem', 40, 40, (p) =>
        p.fillStyle(0xffd23f).fillCircle(20, 20, 18).fillStyle(0xfff1a8).fillCircle(14, 14, 6),
      );
      texture(this, 'hero', 56, 64, (p) =>
        p
          .fillStyle(0x7b3fe4)
          .fillRoundedRect(4, 4, 48, 56, 20)
          .fillStyle(0xffffff)
          .fillCircle(22, 26, 9)
          .fillCircle(40, 26, 9)
          .fillStyle(0x1d1033)
          .fillCircle(25, 27, 4)
          .fillCircle(43, 27, 4),
      );
      texture(this, 'slime', 64, 44, (p) =>
        p
          .fillStyle(0xe4572e)
          .fillEllipse(32, 30, 62, 44)
          .fillStyle(0xffffff)
          .fillCircle(22, 20, 7)
          .fillCircle(42, 20, 7)
          .fillStyle(0x2b0b05)
          .fillCircle(22, 22, 3)
          .fillCircle(42, 22, 3),
      );
      texture(this, 'cloud', 200, 80, (p) =>
        p
          .fillStyle(0xffffff, 0.9)
          .fillEllipse(60, 50, 110, 50)
          .fillEllipse(110, 36, 100, 62)
          .fillEllipse(150, 54, 90, 44),
      );
      const sky = this.add.graphics();
      sky.fillGradientStyle(0x5aa9e6, 0x5aa9e6, 0xfce5c5, 0xfce5c5).fillRect(0, 0, 1280, 800);
      for (const [x, y, s] of [
        [160, 130, 1],
        [560, 90, 0.8],
        [980, 160, 1.15],
      ])
        this.add.image(x, y, 'cloud').setScale(s);
      sky.fillStyle(0x7fb8a4).fillEllipse(240, 800, 760, 460).fillStyle(0x5f9f8d).fillEllipse(960, 820, 980, 520);
      const ground = this.physics.add.staticGroup();
      for (let x = 32; x < 1300; x += 64) if (x < 700 || x > 830) ground.create(x, 768, 'ground');
      for (const [x, y, n] of [
        [200, 590, 4],
        [560, 470, 3],
        [860, 340, 4],
        [1120, 580, 3],
      ])
        for (let i = 0; i < n; i++) ground.create(x + i * 64, y, 'ground');
      const gems = this.physics.add.group({ allowGravity: false });
      for (const [x, y] of [
        [230, 520],
        [300, 500],
        [370, 520],
        [590, 390],
        [660, 390],
        [890, 260],
        [960, 240],
        [1030, 260],
        [1150, 510],
      ])
        gems.create(x, y, 'gem');
      const hero = this.physics.add.sprite(660, 250, 'hero');
      hero.setVelocity(160, -260);
      for (const x of [480, 1010]) this.physics.add.collider(this.physics.add.sprite(x, 700, 'slime'), ground);
      this.physics.add.collider(hero, ground);
      this.add.particles(660, 280, 'gem', { speed: 90, scale: { start: 0.3, end: 0 }, lifespan: 700, quantity: 2 });
      const label = {
        fontFamily: 'sans-serif',
        fontSize: '34px',
        fontStyle: 'bold',
        color: '#ffffff',
        stroke: '#2b1166',
        strokeThickness: 8,
      };
      this.add.text(36, 28, 'SCORE 1240', label);
      this.add.text(1244, 28, '♥ ♥ ♥', label).setOrigin(1, 0);
      this.time.delayedCall(430, () => {
        this.scene.pause();
        globalThis.sceneReady = true;
      });
    },
  },
});
