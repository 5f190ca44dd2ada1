import P5 from 'p5';

// A flow field: three thousand particles follow Perlin noise.
globalThis.sceneReady = false;
const palette = ['#ed225d', '#f9c74f', '#43aa8b', '#577590', '#f3722c', '#fefae0'];
new P5((p) => {
  p.setup = () => {
    p.createCanvas(1280, 800);
    p.noiseSeed(8);
    p.randomSeed(8);
    p.background('#12162b');
    p.noFill();
    for (let i = 0; i < 2600; i++) {
      let [x, y] = [p.random(-40, 1320), p.random(-40, 840)];
      const ink = p.color(p.random(palette));
      ink.setAlpha(150);
      p.stroke(ink);
      p.strokeWeight(p.random(0.8, 3.2));
      p.beginShape();
      for (let step = 0; step < 46; step++) {
        const angle = p.noise(x * 0.0021, y * 0.0021) * Math.PI * 5;
        p.vertex(x, y);
        x += Math.cos(angle) * 4.6;
        y += Math.sin(angle) * 4.6;
      }
      p.endShape();
    }
    p.noLoop();
    globalThis.sceneReady = true;
  };
}, document.querySelector('#app'));
