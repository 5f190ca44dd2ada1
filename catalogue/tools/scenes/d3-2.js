import * as d3 from 'd3';

// A chord diagram, a streamgraph and a treemap, each from generated data.
const svg = d3
  .select('#app')
  .append('svg')
  .attr('viewBox', '0 0 1280 800')
  .style('background', '#fffaf2')
  .style('font', '15px Liberation Sans, sans-serif');
const random = d3.randomLcg(0.42);
const names = ['North', 'East', 'South', 'West', 'Isles', 'Delta'];
const hue = d3.scaleOrdinal(names, ['#f9a03c', '#c8553d', '#588b8b', '#2d3047', '#e0c879', '#93b7be']);
const chords = d3.chordDirected().padAngle(0.05).sortSubgroups(d3.descending)(
  names.map(() => names.map(() => Math.round(4 + random() ** 3 * 60))),
);
const ring = svg.append('g').attr('transform', 'translate(360,400)');
ring
  .selectAll('.g')
  .data(chords.groups)
  .join('path')
  .attr('d', d3.arc().innerRadius(290).outerRadius(312))
  .attr('fill', (d) => hue(names[d.index]));
ring
  .selectAll('.c')
  .data(chords)
  .join('path')
  .attr('d', d3.ribbonArrow().radius(286))
  .attr('fill', (d) => hue(names[d.source.index]))
  .attr('opacity', 0.72)
  .attr('stroke', '#fffaf2')
  .style('mix-blend-mode', 'multiply');
ring
  .selectAll('.t')
  .data(chords.groups)
  .join('text')
  .attr('transform', (d) => `rotate(${((d.startAngle + d.endAngle) * 90) / Math.PI}) translate(0,-324)`)
  .attr('text-anchor', 'middle')
  .attr('font-weight', 700)
  .attr('fill', '#2d3047')
  .text((d) => names[d.index]);
const bumps = d3
  .range(60)
  .map((x) =>
    Object.fromEntries(
      names.map((n, k) => [n, 1 + Math.max(0, Math.sin(x / 7 + k * 1.4) * 3 + Math.cos(x / 3.1 + k * 2))]),
    ),
  );
const stack = d3.stack().keys(names).offset(d3.stackOffsetWiggle).order(d3.stackOrderInsideOut)(bumps);
const x = d3.scaleLinear([0, 59], [740, 1240]);
const y = d3.scaleLinear(
  [d3.min(stack, (s) => d3.min(s, (d) => d[0])), d3.max(stack, (s) => d3.max(s, (d) => d[1]))],
  [380, 60],
);
svg
  .append('g')
  .selectAll('path')
  .data(stack)
  .join('path')
  .attr('fill', (d) => hue(d.key))
  .attr(
    'd',
    d3
      .area()
      .curve(d3.curveBasis)
      .x((_, i) => x(i))
      .y0((d) => y(d[0]))
      .y1((d) => y(d[1])),
  );
const tree = d3
  .hierarchy({
    children: names.map((name) => ({
      name,
      children: d3.range(7).map(() => ({ name, value: 2 + random() ** 2 * 30 })),
    })),
  })
  .sum((d) => d.value)
  .sort((a, b) => b.value - a.value);
d3.treemap().size([500, 320]).paddingInner(3).paddingOuter(3)(tree);
svg
  .append('g')
  .attr('transform', 'translate(740,430)')
  .selectAll('rect')
  .data(tree.leaves())
  .join('rect')
  .attr('x', (d) => d.x0)
  .attr('y', (d) => d.y0)
  .attr('rx', 4)
  .attr('width', (d) => d.x1 - d.x0)
  .attr('height', (d) => d.y1 - d.y0)
  .attr('fill', (d) => d3.color(hue(d.data.name)).brighter(d.x0 % 0.7));
