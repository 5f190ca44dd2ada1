import L from 'leaflet';
import 'leaflet/dist/leaflet.css';
import { feature } from 'topojson-client';
import world from 'world-atlas/countries-110m.json';

// A choropleth with a legend. The value is the length of each country's name, which needs no further data.
const app = document.querySelector('#app');
app.style.background = '#14202e';
const map = L.map(app, { zoomSnap: 0.05, zoomAnimation: false, fadeAnimation: false }).setView([24, 8], 2.15);
const steps = [0, 6, 8, 10, 13, 17];
const colors = ['#ffffcc', '#c7e9b4', '#7fcdbb', '#41b6c4', '#2c7fb8', '#253494'];
const color = (n) => colors[steps.findLastIndex((step) => n >= step)];
// Rings that cross the antimeridian are continued to the east of it. Antarctica is omitted.
const land = feature(world, world.objects.countries);
land.features = land.features.filter((f) => f.properties.name !== 'Antarctica');
const unroll = (ring) =>
  Math.max(...ring.map((p) => p[0])) - Math.min(...ring.map((p) => p[0])) > 300
    ? ring.map(([x, y]) => [x < 0 ? x + 360 : x, y])
    : ring;
for (const { geometry } of land.features)
  geometry.coordinates =
    geometry.type === 'Polygon'
      ? geometry.coordinates.map(unroll)
      : geometry.coordinates.map((part) => part.map(unroll));
L.geoJSON(land, {
  style: (f) => ({ color: '#14202e', weight: 1, fillColor: color(f.properties.name.length), fillOpacity: 0.94 }),
}).addTo(map);
map.attributionControl.addAttribution('Land: Natural Earth');
const legend = L.control({ position: 'bottomleft' });
legend.onAdd = () => {
  const box = L.DomUtil.create('div');
  box.style.cssText = 'background:#fff;padding:16px 20px;border-radius:10px;font:16px/1.65 Liberation Sans,sans-serif';
  box.innerHTML = `<b>Letters in the name</b>${steps.map((s, i) => `<div><i style="display:inline-block;width:20px;height:14px;margin-right:10px;border-radius:3px;background:${colors[i]};border:1px solid #0002"></i>${s}${steps[i + 1] ? `–${steps[i + 1] - 1}` : ' and more'}</div>`).join('')}`;
  return box;
};
legend.addTo(map);
