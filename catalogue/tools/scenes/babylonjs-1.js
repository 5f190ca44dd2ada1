import {
  ArcRotateCamera,
  Color3,
  Color4,
  DirectionalLight,
  Engine,
  HemisphericLight,
  MeshBuilder,
  PBRMaterial,
  Scene,
  ShadowGenerator,
  Vector3,
} from '@babylonjs/core';

// A harbour town of boxes and cones with soft shadows.
document.querySelector('#app').innerHTML =
  '<canvas id="view" width="1280" height="800" style="display:block;width:1280px;height:800px"></canvas>';
const engine = new Engine(document.querySelector('#view'), true, { preserveDrawingBuffer: true });
const scene = new Scene(engine);
scene.clearColor = Color4.FromHexString('#f7c59fff');
scene.ambientColor = new Color3(0.4, 0.4, 0.5);
const camera = new ArcRotateCamera('camera', -1.05, 1.0, 27, new Vector3(0, 0.5, 0), scene);
camera.fov = 0.62;
const sky = new HemisphericLight('sky', new Vector3(0, 1, 0), scene);
sky.intensity = 0.75;
sky.groundColor = new Color3(0.45, 0.3, 0.4);
const sun = new DirectionalLight('sun', new Vector3(1, -1.5, 0.9), scene);
sun.position = new Vector3(-20, 30, -18);
sun.intensity = 2.6;
const shadows = new ShadowGenerator(2048, sun);
shadows.usePercentageCloserFiltering = true;
const paint = (hex, roughness = 0.7) => {
  const material = new PBRMaterial(hex, scene);
  material.albedoColor = Color3.FromHexString(hex).toLinearSpace();
  material.metallic = 0;
  material.roughness = roughness;
  return material;
};
const palette = ['#e76f51', '#f4a261', '#e9c46a', '#2a9d8f', '#fefae0', '#bc4749'].map((hex) => paint(hex));
const roof = paint('#6d2e46');
const put = (mesh, material, x, y, z) => {
  mesh.material = material;
  mesh.position.set(x, y, z);
  mesh.receiveShadows = true;
  shadows.addShadowCaster(mesh);
};
put(MeshBuilder.CreateBox('sea', { width: 60, height: 0.2, depth: 60 }), paint('#3d8fa6', 0.25), 0, -0.6, 0);
put(
  MeshBuilder.CreateCylinder('island', { diameterTop: 17, diameterBottom: 20, height: 1, tessellation: 48 }),
  paint('#a3b18a'),
  0,
  -0.2,
  0,
);
let seed = 11;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
for (let i = 0; i < 46; i++) {
  const angle = i * 2.4;
  const radius = 1.1 * Math.sqrt(i) + 0.3;
  const [x, z] = [Math.cos(angle) * radius, Math.sin(angle) * radius];
  const height = 0.9 + random() * 2.6 * (1 - radius / 9);
  if (random() < 0.22) {
    put(MeshBuilder.CreateCylinder('trunk', { diameter: 0.16, height: 0.5 }), roof, x, 0.5, z);
    put(
      MeshBuilder.CreateCylinder('tree', { diameterTop: 0, diameterBottom: 1, height: 1.7, tessellation: 7 }),
      paint('#386641'),
      x,
      1.5,
      z,
    );
    continue;
  }
  put(
    MeshBuilder.CreateBox('house', { width: 1.05, depth: 1.05, height }),
    palette[Math.floor(random() * 6)],
    x,
    0.3 + height / 2,
    z,
  );
  const top = MeshBuilder.CreateCylinder('roof', {
    diameterTop: 0,
    diameterBottom: 1.62,
    height: 0.7,
    tessellation: 4,
  });
  top.rotation.y = Math.PI / 4;
  put(top, roof, x, 0.3 + height + 0.35, z);
}
for (let i = 0; i < 7; i++) {
  const boat = MeshBuilder.CreateCylinder('boat', {
    diameterTop: 0.9,
    diameterBottom: 0.5,
    height: 0.4,
    tessellation: 24,
  });
  boat.scaling.x = 2;
  const angle = 3.6 + i * 0.55;
  put(boat, paint('#fefae0'), Math.cos(angle) * (11.5 + random() * 2), -0.2, Math.sin(angle) * (11.5 + random() * 2));
  const sail = MeshBuilder.CreateCylinder('sail', { diameterTop: 0, diameterBottom: 1, height: 1.7, tessellation: 3 });
  sail.scaling.z = 0.15;
  put(sail, palette[i % 4], boat.position.x, 0.9, boat.position.z);
}
globalThis.sceneReady = false;
scene.executeWhenReady(() => {
  scene.render();
  scene.render();
  globalThis.sceneReady = true;
});
