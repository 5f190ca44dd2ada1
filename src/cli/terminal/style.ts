import { inspect } from 'node:util';

type StyleName = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

/** Colours a text, or leaves it as it is. */
export type Style = (name: StyleName, text: string) => string;

/** Where text is written to. */
interface Output {
  isTTY?: boolean | undefined;
}

/** Colours only on a terminal, and not where NO_COLOR (https://no-color.org) or a dumb terminal forbids them. */
export function styleFor(output: Output, environment: Readonly<Record<string, string | undefined>>): Style {
  const isColoured = output.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb';
  if (!isColoured) return (_name, text) => text;
  return (name, text) => {
    // Node's own table of SGR codes; its `styleText` decides by standard output alone whether there is a terminal.
    const [on, off] = inspect.colors[name] ?? [0, 0];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}
