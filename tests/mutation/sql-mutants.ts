import ts from 'typescript';

/** A source file with one change in its SQL. */
export interface SqlMutant {
  line: number;
  /** The original text. */
  from: string;
  /** The text that replaces it. */
  to: string;
  source: string;
}

/** Typical mistakes in SQL, each applied at each matching place. */
const MUTATIONS: readonly [find: RegExp, replacement: string][] = [
  [/\bAND\b/g, 'OR'],
  [/\bOR\b/g, 'AND'],
  [/\bIS NULL\b/g, 'IS NOT NULL'],
  [/\bIS NOT NULL\b/g, 'IS NULL'],
  [/\bNOT (?=[a-z(]|EXISTS)/g, ''],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ = (?!product_counts|EXCLUDED|hidden|reason)/g, ' <> '],
  [/ \+ /g, ' - '],
  [/\bDESC\b/g, 'ASC'],
  [/\bLEFT JOIN\b/g, 'JOIN'],
  [/(?<!LEFT )\bJOIN\b/g, 'LEFT JOIN'],
  [/\bDISTINCT /g, ''],
  [/\bORDER BY [a-z_.]+(?: DESC)?(?:, [a-z_."]+(?: DESC)?)*/gi, ''],
  [/ FOR UPDATE\b/g, ''],
  [/\bDO NOTHING\b/g, 'DO UPDATE SET id = EXCLUDED.id'],
  [/\bWHERE (?=upvoted|desired|held_session|hidden_at)[^)\n]+/g, ''],
];

const SQL = /\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|JOIN|ORDER BY|IS (?:NOT )?NULL|ANY\()/;

/** Returns every mutant of the SQL in the strings and templates of a source. */
export function sqlMutantsOf(source: string): SqlMutant[] {
  const mutants: SqlMutant[] = [];
  const file = ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node)) {
      const text = node.getText();
      if (SQL.test(text)) mutants.push(...mutantsIn(source, node.getStart(), text));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants.sort((one, other) => one.line - other.line);
}

function mutantsIn(source: string, start: number, text: string): SqlMutant[] {
  return MUTATIONS.flatMap(([find, replacement]) =>
    Array.from(text.matchAll(find), (match) => {
      const at = start + match.index;
      const end = at + match[0].length;
      return {
        line: source.slice(0, at).split('\n').length,
        from: match[0].trim(),
        to: replacement.trim(),
        source: source.slice(0, at) + replacement + source.slice(end),
      };
    }),
  );
}
