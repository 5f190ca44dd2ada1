import L from 'leaflet';
import 'leaflet/dist/leaflet.css';
import { feature } from 'topojson-client';
import world from 'world-atlas/countries-50m.json';

// The land is Natural Earth data, bundled with the page, so no tiles are loaded.
const app = document.querySelector('#app');
app.style.background = '#a8d3e0';
const map = L.map(app, { zoomSnap: 0.1, zoomAnimation: false, fadeAnimation: false }).setView([50.6, 6], 5.1);
const tones = ['#f4f1de', '#e9edc9', '#fefae0', '#f0ead2', '#e6e2c8'];
L.geoJSON(feature(world, world.objects.countries), {
  style: (f) => ({ color: '#a39d84', weight: 1.2, fillColor: tones[(Number(f.id) || 0) % 5], fillOpacity: 1 }),
}).addTo(map);
map.attributionControl.addAttribution('Land: Natural Earth');
const pin = (color) =>
  L.divIcon({
    className: '',
    iconSize: [30, 42],
    iconAnchor: [15, 42],
    popupAnchor: [0, -38],
    html: `<svg width="30" height="42" viewBox="0 0 30 42"><path d="M15 41C6 27 1 22 1 15a14 14 0 0 1 28 0c0 7-5 12-14 26z" fill="${color}" stroke="#fff" stroke-width="2"/><circle cx="15" cy="15" r="5.5" fill="#fff"/></svg>`,
  });
const stops = [
  ['Oban', 56.41, -5.47],
  ['Brest', 48.39, -4.49],
  ['Hamburg', 53.55, 9.99],
  ['København', 55.68, 12.57],
  ['Genova', 44.41, 8.93],
  ['Amsterdam', 52.37, 4.9],
  ['Bergen', 60.39, 5.32],
  ['Gdańsk', 54.35, 18.65],
  ['Barcelona', 41.39, 2.17],
  ['Split', 43.51, 16.44],
];
const marks = stops.map(([name, lat, lng], i) =>
  L.marker([lat, lng], { icon: pin(['#d1495b', '#2e86ab', '#3f8f4f'][i % 3]) })
    .addTo(map)
    .bindPopup(
      `<b style="font-size:17px">${name}</b><br><span style="font-size:14px">Berths free: ${4 + i * 3}</span>`,
      { autoPan: false },
    ),
);
L.polyline(
  [6, 0, 5, 2, 3, 7].map((i) => stops[i].slice(1)),
  { color: '#d1495b', weight: 4, dashArray: '10 9', opacity: 0.85 },
).addTo(map);
L.circle([45.2, -5.2], { radius: 210000, color: '#2e86ab', weight: 2, fillOpacity: 0.18 }).addTo(map);
marks[5].openPopup();
