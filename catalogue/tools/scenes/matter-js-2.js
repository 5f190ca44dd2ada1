import Matter from 'matter-js';

// A Galton board: balls that fall through pegs form a bell curve.
const { Bodies, Composite, Engine, Render } = Matter;
const engine = Engine.create();
const render = Render.create({
  element: document.querySelector('#app'),
  engine,
  options: { width: 1280, height: 800, wireframes: false, background: '#f7f3ea' },
});
const fixed = (color) => ({ isStatic: true, friction: 0.05, render: { fillStyle: color } });
const parts = [Bodies.rectangle(640, 792, 1280, 20, fixed('#2e4057'))];
for (let i = 0; i <= 24; i++) parts.push(Bodies.rectangle(20 + i * 51.7, 690, 7, 200, fixed('#2e4057')));
for (let row = 0; row < 11; row++)
  for (let column = 0; column < 25; column++)
    parts.push(Bodies.circle(column * 52 + (row % 2) * 26 + 6, 150 + row * 40, 6, fixed('#8d99ae')));
Composite.add(engine.world, parts);
const colors = ['#e4572e', '#f3a712', '#17768c', '#6a4c93', '#7fb069'];
let seed = 5;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
for (let step = 0; step < 1900; step++) {
  if (step % 6 === 0) {
    const x = 640 + (random() - 0.5) * 40;
    Composite.add(
      engine.world,
      Bodies.circle(x, 20, 10.5, {
        restitution: 0.45,
        friction: 0.01,
        frictionAir: 0.012,
        render: { fillStyle: colors[Math.floor(random() * 5)] },
      }),
    );
  }
  Engine.update(engine, 1000 / 60);
}
Render.world(render);
