import 'ol/ol.css';
import GeoJSON from 'ol/format/GeoJSON.js';
import Graticule from 'ol/layer/Graticule.js';
import VectorLayer from 'ol/layer/Vector.js';
import OlMap from 'ol/Map.js';
import VectorSource from 'ol/source/Vector.js';
import { Fill, Stroke, Style, Text } from 'ol/style.js';
import View from 'ol/View.js';
import { feature } from 'topojson-client';
import world from 'world-atlas/countries-50m.json';

// Vector land with labels that avoid each other, and a graticule.
document.querySelector('#app').style.background = '#cfe8f3';
const source = new VectorSource({
  features: new GeoJSON().readFeatures(feature(world, world.objects.countries), { featureProjection: 'EPSG:3857' }),
});
const tones = ['#fbf3d5', '#f6dfc2', '#e6ecd0', '#efe1ea', '#dfe9ef'];
const label = (f) =>
  new Style({
    fill: new Fill({ color: tones[(Number(f.getId()) || 0) % 5] }),
    stroke: new Stroke({ color: '#8a8f98', width: 1.1 }),
    text: new Text({
      text: f.get('name'),
      font: '600 16px Liberation Sans',
      overflow: false,
      fill: new Fill({ color: '#33415c' }),
      stroke: new Stroke({ color: '#ffffffcc', width: 4 }),
    }),
  });
new OlMap({
  target: 'app',
  layers: [
    new VectorLayer({ source, style: label, declutter: true }),
    new Graticule({
      strokeStyle: new Stroke({ color: '#14527a55', width: 1, lineDash: [4, 5] }),
      showLabels: true,
      wrapX: false,
    }),
  ],
  view: new View({ center: [2_300_000, -50_000], zoom: 4.05 }),
});
