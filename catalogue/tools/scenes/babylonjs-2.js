import {
  ArcRotateCamera,
  Color3,
  Color4,
  Engine,
  GlowLayer,
  HemisphericLight,
  MeshBuilder,
  PointLight,
  Scene,
  StandardMaterial,
  Vector3,
} from '@babylonjs/core';

// Ribbons and tubes with a glow layer.
document.querySelector('#app').innerHTML =
  '<canvas id="view" width="1280" height="800" style="display:block;width:1280px;height:800px"></canvas>';
const engine = new Engine(document.querySelector('#view'), true, { preserveDrawingBuffer: true });
const scene = new Scene(engine);
scene.clearColor = Color4.FromHexString('#0a0714ff');
new ArcRotateCamera('camera', -1.2, 1.12, 13.5, Vector3.Zero(), scene).fov = 0.7;
new HemisphericLight('sky', new Vector3(0, 1, 0), scene).intensity = 0.35;
const lamp = new PointLight('lamp', new Vector3(4, 5, -6), scene);
lamp.intensity = 0.9;
const glow = new GlowLayer('glow', scene);
glow.intensity = 0.55;
for (let band = 0; band < 26; band++) {
  const phase = (band / 26) * Math.PI * 2;
  const path = [];
  for (let step = 0; step <= 240; step++) {
    const t = (step / 240) * Math.PI * 2;
    const r = 3.3 + Math.cos(3 * t + phase) * 1.15;
    path.push(new Vector3(Math.cos(2 * t) * r, Math.sin(3 * t + phase) * 1.5, Math.sin(2 * t) * r));
  }
  const tube = MeshBuilder.CreateTube(`band${band}`, { path, radius: 0.045, tessellation: 10 }, scene);
  const material = new StandardMaterial(`band${band}`, scene);
  const color = Color3.FromHSV((200 + band * 6.5) % 360, 0.72, 1);
  material.emissiveColor = color.scale(0.75);
  material.diffuseColor = color;
  tube.material = material;
}
const core = MeshBuilder.CreateIcoSphere('core', { radius: 1.15, subdivisions: 2, flat: true }, scene);
const metal = new StandardMaterial('core', scene);
metal.diffuseColor = Color3.FromHexString('#f4a261');
metal.specularColor = Color3.White();
metal.emissiveColor = Color3.FromHexString('#7a2a14');
core.material = metal;
globalThis.sceneReady = false;
scene.executeWhenReady(() => {
  for (let i = 0; i < 3; i++) scene.render();
  globalThis.sceneReady = true;
});
