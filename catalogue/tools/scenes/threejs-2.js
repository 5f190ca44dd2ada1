import * as THREE from 'three';
import { RoomEnvironment } from 'three/examples/jsm/environments/RoomEnvironment.js';

// Glossy solids lit by an environment map.
const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
renderer.setSize(1280, 800);
renderer.shadowMap.enabled = true;
renderer.toneMapping = THREE.ACESFilmicToneMapping;
document.querySelector('#app').append(renderer.domElement);
const scene = new THREE.Scene();
scene.background = new THREE.Color('#f2e8dc');
scene.environment = new THREE.PMREMGenerator(renderer).fromScene(new RoomEnvironment(), 0.04).texture;
scene.environmentIntensity = 0.75;
const camera = new THREE.PerspectiveCamera(32, 1.6, 0.1, 60);
camera.position.set(0, 4.2, 13);
camera.lookAt(0, 0.9, 0);
const sun = new THREE.DirectionalLight('#fff', 2.2);
sun.position.set(5, 9, 5);
sun.castShadow = true;
sun.shadow.mapSize.set(2048, 2048);
sun.shadow.radius = 6;
Object.assign(sun.shadow.camera, { left: -9, right: 9, top: 9, bottom: -9 });
scene.add(sun);
const floor = new THREE.Mesh(
  new THREE.PlaneGeometry(80, 80),
  new THREE.MeshStandardMaterial({ color: '#ead9c6', roughness: 0.9 }),
);
floor.rotation.x = -Math.PI / 2;
floor.receiveShadow = true;
scene.add(floor);
const solids = [
  [
    new THREE.TorusKnotGeometry(1.05, 0.36, 260, 40),
    '#e4572e',
    { metalness: 0.1, roughness: 0.18, clearcoat: 1 },
    [0, 1.95, 0],
  ],
  [new THREE.SphereGeometry(1.1, 64, 48), '#dfe5ea', { metalness: 1, roughness: 0.06 }, [-3.4, 1.1, 0.4]],
  [new THREE.IcosahedronGeometry(1.2, 0), '#17768c', { roughness: 0.35, flatShading: true }, [3.3, 1.05, 0.5]],
  [new THREE.TorusGeometry(0.62, 0.26, 32, 80), '#f3a712', { roughness: 0.25, clearcoat: 1 }, [-1.8, 0.88, 2.5]],
  [new THREE.ConeGeometry(0.7, 1.5, 64), '#6a4c93', { roughness: 0.4 }, [1.9, 0.75, 2.7]],
  [new THREE.DodecahedronGeometry(0.62, 0), '#7fb069', { roughness: 0.5, flatShading: true }, [5.2, 0.6, 1.9]],
  [new THREE.CapsuleGeometry(0.42, 0.9, 12, 32), '#2e4057', { roughness: 0.2, clearcoat: 1 }, [-5.3, 0.87, 1.8]],
];
for (const [geometry, color, look, position] of solids) {
  const mesh = new THREE.Mesh(geometry, new THREE.MeshPhysicalMaterial({ color, ...look }));
  mesh.position.set(...position);
  mesh.rotation.y = 0.5;
  mesh.castShadow = mesh.receiveShadow = true;
  scene.add(mesh);
}
renderer.render(scene, camera);
