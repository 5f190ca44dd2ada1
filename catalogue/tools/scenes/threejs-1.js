import * as THREE from 'three';
import { RoundedBoxGeometry } from 'three/examples/jsm/geometries/RoundedBoxGeometry.js';

// A sea of rounded columns: instancing, soft shadows and physical materials.
const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
renderer.setSize(1280, 800);
renderer.shadowMap.enabled = true;
renderer.toneMapping = THREE.ACESFilmicToneMapping;
document.querySelector('#app').append(renderer.domElement);
const scene = new THREE.Scene();
scene.background = new THREE.Color('#0b1626');
scene.fog = new THREE.Fog('#0b1626', 22, 46);
const camera = new THREE.PerspectiveCamera(38, 1.6, 0.1, 100);
camera.position.set(15, 13, 19);
camera.lookAt(0, 0.5, 0);
const sun = new THREE.DirectionalLight('#ffd9a8', 4.2);
sun.position.set(-9, 14, 4);
sun.castShadow = true;
sun.shadow.mapSize.set(2048, 2048);
Object.assign(sun.shadow.camera, { left: -18, right: 18, top: 18, bottom: -18 });
scene.add(sun, new THREE.HemisphereLight('#7fd4ff', '#20103a', 1.5));
const side = 34;
const columns = new THREE.InstancedMesh(
  new RoundedBoxGeometry(0.78, 6, 0.78, 3, 0.14),
  new THREE.MeshPhysicalMaterial({ roughness: 0.32, metalness: 0.05, clearcoat: 0.6 }),
  side * side,
);
columns.castShadow = columns.receiveShadow = true;
const place = new THREE.Matrix4();
const color = new THREE.Color();
for (let i = 0; i < side * side; i++) {
  const [x, z] = [(i % side) - side / 2, Math.floor(i / side) - side / 2];
  const r = Math.hypot(x, z);
  const height = 1.7 * Math.sin(r * 0.62) * Math.exp(-r * 0.05) + 0.5 * Math.sin(x * 0.5);
  columns.setMatrixAt(i, place.makeTranslation(x, height - 3, z));
  columns.setColorAt(i, color.setHSL(0.52 + height * 0.075, 0.72, 0.52 + height * 0.06));
}
scene.add(columns);
renderer.render(scene, camera);
