import 'ol/ol.css';
import Feature from 'ol/Feature.js';
import GeoJSON from 'ol/format/GeoJSON.js';
import { LineString, Point } from 'ol/geom.js';
import Heatmap from 'ol/layer/Heatmap.js';
import VectorLayer from 'ol/layer/Vector.js';
import OlMap from 'ol/Map.js';
import { fromLonLat } from 'ol/proj.js';
import VectorSource from 'ol/source/Vector.js';
import { Fill, Stroke, Style } from 'ol/style.js';
import View from 'ol/View.js';
import { feature } from 'topojson-client';
import world from 'world-atlas/countries-50m.json';

// A heat map of generated sightings around the North Sea, with shipping lanes.
document.querySelector('#app').style.background = '#0a1626';
const land = new VectorSource({
  features: new GeoJSON().readFeatures(feature(world, world.objects.countries), { featureProjection: 'EPSG:3857' }),
});
let seed = 13;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const spots = [
  [3, 56, 2.4],
  [-1, 59, 1.7],
  [7, 57.6, 1.2],
  [-6.5, 57.3, 1.3],
  [2, 52.8, 1],
  [11, 56.5, 0.9],
  [-4.5, 50, 1.1],
];
const points = new VectorSource({
  features: spots.flatMap(([lon, lat, spread]) =>
    Array.from(
      { length: 150 },
      () =>
        new Feature({
          geometry: new Point(
            fromLonLat([lon + (random() + random() - 1) * spread * 2, lat + (random() + random() - 1) * spread]),
          ),
          weight: random(),
        }),
    ),
  ),
});
const lanes = new VectorSource({
  features: [
    [
      [-4.5, 48.6],
      [0.5, 50.2],
      [2.6, 52],
      [3.6, 54.5],
      [5, 57.4],
      [4.6, 60.2],
    ],
    [
      [2.6, 52],
      [7.8, 54],
      [8.5, 57.3],
      [11.3, 57.6],
      [12.4, 55.9],
    ],
    [
      [-5.4, 56.2],
      [-5, 58.7],
      [0, 58.9],
      [5, 57.4],
    ],
  ].map((line) => new Feature(new LineString(line.map((p) => fromLonLat(p))))),
});
new OlMap({
  target: 'app',
  layers: [
    new VectorLayer({
      source: land,
      style: new Style({ fill: new Fill({ color: '#1b3049' }), stroke: new Stroke({ color: '#3d5a80', width: 1.2 }) }),
    }),
    new Heatmap({
      source: points,
      blur: 26,
      radius: 13,
      gradient: ['#123a6b', '#1f9bcf', '#5ee0b5', '#f9f871', '#ff7b54'],
    }),
    new VectorLayer({
      source: lanes,
      style: new Style({ stroke: new Stroke({ color: '#ffffffcc', width: 2.5, lineDash: [10, 9] }) }),
    }),
  ],
  view: new View({ center: fromLonLat([2.5, 55.7]), zoom: 5.75 }),
});
