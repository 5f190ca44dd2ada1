import { useEffect, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { formatCount } from '../../contract/text.ts';
import 'uplot/dist/uPlot.min.css';

interface Series {
  label: string;
  /** The name of a custom property, such as `--sun`. */
  colour: string;
  values: readonly number[];
}

interface ChartProps {
  title: string;
  /** ISO 8601, one for each value. */
  times: readonly string[];
  series: readonly Series[];
  /** Formats a time in the table and in the legend, which describes the point under the pointer. */
  formatTime: (time: string) => string;
  /** Formats a time below the chart, where there is less room. */
  formatTick: (time: string) => string;
}

const HEIGHT_PX = 220;

/** The possible steps of the vertical scale, all whole numbers. If all are too small, the chart has no scale. */
const STEPS = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** A line chart over time, with a table of the same values for accessibility. */
export function Chart({ title, times, series, formatTime, formatTick }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLParagraphElement>(null);
  const [Plot, setPlot] = useState<typeof uPlot>();

  useEffect(() => {
    // The import fails if the browser's language is invalid, such as `en-US@posix`. Then only the table is shown.
    import('uplot').then(
      (module) => setPlot(() => module.default),
      () => {},
    );
  }, []);

  useEffect(() => {
    const element = container.current;
    if (!element || !Plot) return;
    const draw = () => {
      const axis = {
        stroke: resolveColour(element, '--ink-quiet'),
        grid: { stroke: resolveColour(element, '--line'), width: 1 },
        ticks: { show: false },
      };
      const plot = new Plot(
        {
          width: element.clientWidth,
          height: HEIGHT_PX,
          // Days begin at midnight in UTC, not in the time zone of the browser.
          tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
          // Leaves room for half of the last label.
          padding: [12, 20, 0, 0],
          legend: { show: false },
          cursor: { y: false, points: { size: 8 } },
          axes: [
            {
              ...axis,
              space: 60,
              size: 28,
              font: '12px system-ui',
              values: (_plot, splits) => splits.map((at) => formatTick(new Date(at * 1_000).toISOString())),
            },
            {
              ...axis,
              size: (_plot, labels: string[] | null) =>
                Math.max(44, ...(labels ?? []).map(({ length }) => 4 + 6.5 * length)),
              font: '12px system-ui',
              incrs: STEPS,
              values: (_plot, splits) => splits.map(formatCount),
            },
          ],
          scales: { y: { range: (_plot, _min, max) => [0, Math.max(4, max * 1.1)] } },
          series: [
            {},
            ...series.map(({ label, colour }) => ({
              label,
              stroke: resolveColour(element, colour),
              fill: fade(resolveColour(element, colour)),
              width: 2,
              points: { show: false },
            })),
          ],
          hooks: {
            setCursor: [
              ({ cursor: { idx } }) => {
                if (legend.current) legend.current.textContent = idx == null ? '' : sentenceAt(idx);
              },
            ],
          },
        },
        [times.map((time) => Date.parse(time) / 1_000), ...series.map(({ values }) => [...values])],
        element,
      );
      return plot;
    };
    const sentenceAt = (index: number) =>
      `${formatTime(times[index] ?? '')}: ${series.map(({ label, values }) => `${label.toLowerCase()} ${formatCount(values[index] ?? 0)}`).join(', ')}`;

    let plot = draw();
    const redraw = () => {
      plot.destroy();
      plot = draw();
    };
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    sizes.observe(element);
    // The colours depend on the theme, so the chart is drawn again when the theme changes.
    const themes = new MutationObserver(redraw);
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', redraw);
    return () => {
      sizes.disconnect();
      themes.disconnect();
      system.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [Plot, times, series, formatTime, formatTick]);

  return (
    <figure className="chart">
      <figcaption>
        <h3>{title}</h3>
        <ul className="chart-key" aria-hidden="true">
          {series.map(({ label, colour, values }) => (
            <li key={label} data-colour={colour}>
              {label} <strong>{formatCount(values.reduce((sum, value) => sum + value, 0))}</strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={container} className="chart-place" aria-hidden="true" />
      <p ref={legend} className="chart-legend" aria-hidden="true" />
      <details className="chart-table">
        <summary>As a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
        <section className="table-scroll" tabIndex={0} aria-label={`${title}, as a table`}>
          <table>
            <caption className="visually-hidden">{title}</caption>
            <thead>
              <tr>
                <th scope="col">Time (UTC)</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times
                .map((time, index) => (
                  <tr key={time}>
                    <th scope="row">{formatTime(time)}</th>
                    {series.map(({ label, values }) => (
                      <td key={label}>{formatCount(values[index] ?? 0)}</td>
                    ))}
                  </tr>
                ))
                .reverse()}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}

/** Resolves a colour token to its current value, because the canvas does not support `light-dark()`. */
function resolveColour(within: HTMLElement, token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  within.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function fade(colour: string): string {
  return colour.replace(/^rgb\((.+)\)$/, 'rgba($1, 0.08)');
}
