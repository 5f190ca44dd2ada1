import Matter from 'matter-js';

// A tower of boxes, a wrecking ball and a pile of shapes, after 96 steps of simulation.
const { Bodies, Body, Composite, Composites, Constraint, Engine, Render } = Matter;
const engine = Engine.create();
const render = Render.create({
  element: document.querySelector('#app'),
  engine,
  options: { width: 1280, height: 800, wireframes: false, background: '#14151f' },
});
const colors = ['#f19648', '#f5d259', '#f55a3c', '#5fb3b3', '#ececd1'];
const look = (i) => ({ render: { fillStyle: colors[i % 5] }, restitution: 0.2, friction: 0.6 });
const wall = (x, y, w, h) => Bodies.rectangle(x, y, w, h, { isStatic: true, render: { fillStyle: '#2c2f40' } });
let n = 0;
const tower = Composites.stack(760, 196, 6, 10, 0, 0, (x, y) => Bodies.rectangle(x, y, 54, 54, look(n++)));
const pile = Composites.stack(60, -200, 7, 8, 8, 8, (x, y) =>
  n++ % 3 === 0
    ? Bodies.circle(x, y, 20 + (n % 4) * 5, look(n))
    : Bodies.polygon(x, y, 3 + (n % 5), 26 + (n % 3) * 6, look(n)),
);
const ball = Bodies.circle(240, 330, 62, {
  density: 0.03,
  frictionAir: 0.001,
  render: { fillStyle: '#e8e9f3', strokeStyle: '#9aa0c0', lineWidth: 6 },
});
const chain = Constraint.create({
  pointA: { x: 640, y: 20 },
  bodyB: ball,
  stiffness: 0.9,
  render: { strokeStyle: '#9aa0c0', lineWidth: 4 },
});
Composite.add(engine.world, [
  wall(640, 780, 1400, 60),
  wall(-20, 400, 60, 900),
  wall(1300, 400, 60, 900),
  tower,
  pile,
  ball,
  chain,
]);
Body.setVelocity(ball, { x: 8, y: 6 });
for (let step = 0; step < 96; step++) Engine.update(engine, 1000 / 60);
Render.world(render);
