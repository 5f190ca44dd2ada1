import { styleFor } from './style.ts';
import { type Column, formatTable } from './table.ts';

/** Prints a table on standard output: as wide as the terminal, or whole where there is none. */
export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  const { stdout } = process;
  const options = { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout, process.env) };
  for (const line of formatTable(columns, rows, options)) console.log(line);
}
