import P5 from 'p5';

// Circle packing with rings, on paper.
globalThis.sceneReady = false;
const palette = ['#264653', '#2a9d8f', '#e9c46a', '#f4a261', '#e76f51', '#ed225d'];
new P5((p) => {
  p.setup = () => {
    p.createCanvas(1280, 800);
    p.randomSeed(21);
    p.background('#f6f0e4');
    p.noStroke();
    const circles = [];
    for (let tries = 0; tries < 26000 && circles.length < 620; tries++) {
      const circle = { x: p.random(1280), y: p.random(800), r: 120 };
      for (const other of circles)
        circle.r = Math.min(circle.r, p.dist(circle.x, circle.y, other.x, other.y) - other.r - 2.5);
      if (circle.r < 6) continue;
      circles.push(circle);
      const first = Math.floor(p.random(palette.length));
      const rings = Math.max(1, Math.floor(circle.r / 13));
      for (let ring = 0; ring < rings; ring++) {
        p.fill(palette[(first + ring * 2) % palette.length]);
        const start = p.random(p.TWO_PI);
        const size = circle.r * 2 * (1 - ring / rings);
        if (p.random() < 0.5) p.circle(circle.x, circle.y, size);
        else p.arc(circle.x, circle.y, size, size, start, start + p.random(3, 5.6), p.PIE);
      }
    }
    p.noLoop();
    globalThis.sceneReady = true;
  };
}, document.querySelector('#app'));
