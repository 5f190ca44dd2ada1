import * as d3 from 'd3';
import { feature, mesh } from 'topojson-client';
import world from 'world-atlas/countries-110m.json';

// A globe with great circles between harbours.
const svg = d3.select('#app').append('svg').attr('viewBox', '0 0 1280 800').style('background', '#0b1d2e');
const projection = d3.geoOrthographic().scale(370).translate([640, 400]).rotate([20, -34, 8]).precision(0.3);
const path = d3.geoPath(projection);
const glow = svg.append('defs').append('radialGradient').attr('id', 'sea').attr('cx', '38%').attr('cy', '32%');
glow.append('stop').attr('stop-color', '#3a87b0');
glow.append('stop').attr('offset', '100%').attr('stop-color', '#123552');
for (const r of [520, 460, 410])
  svg.append('circle').attr('cx', 640).attr('cy', 400).attr('r', r).attr('fill', '#f9a03c').attr('opacity', 0.035);
svg
  .append('path')
  .attr('d', path({ type: 'Sphere' }))
  .attr('fill', 'url(#sea)');
svg
  .append('path')
  .attr('d', path(d3.geoGraticule10()))
  .attr('fill', 'none')
  .attr('stroke', '#fff')
  .attr('stroke-opacity', 0.14);
const color = d3.scaleSequential(d3.interpolateYlOrBr).domain([-3, 9]);
svg
  .selectAll('.land')
  .data(feature(world, world.objects.countries).features)
  .join('path')
  .attr('d', path)
  .attr('fill', (d) => color(Math.log(d3.geoArea(d) * 4e4)));
svg
  .append('path')
  .attr('d', path(mesh(world, world.objects.countries, (a, b) => a !== b)))
  .attr('fill', 'none')
  .attr('stroke', '#0b1d2e')
  .attr('stroke-width', 0.7);
const harbours = [
  [-4.5, 48.4],
  [-74, 40.7],
  [5.3, 60.4],
  [-43.2, -22.9],
  [18.4, -33.9],
  [3.4, 6.4],
  [29, 41],
  [-16.9, 32.6],
  [-22, 64.1],
  [-66.1, 18.5],
];
for (const [i, from] of harbours.entries())
  for (const to of harbours.slice(i + 1))
    if ((i * 7 + to[0]) % 2 < 1.25)
      svg
        .append('path')
        .attr('d', path({ type: 'LineString', coordinates: [from, to] }))
        .attr('fill', 'none')
        .attr('stroke', '#ffe6a7')
        .attr('stroke-width', 1.6)
        .attr('opacity', 0.75);
svg
  .selectAll('.port')
  .data(harbours.filter((p) => d3.geoDistance(p, [-20, 34]) < 1.5))
  .join('circle')
  .attr('transform', (d) => `translate(${projection(d)})`)
  .attr('r', 6)
  .attr('fill', '#ff5d5d')
  .attr('stroke', '#fff')
  .attr('stroke-width', 2);
