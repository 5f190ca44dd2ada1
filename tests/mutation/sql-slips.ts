import ts from 'typescript';

/** A source file whose SQL was changed in one place. */
export interface SqlSlip {
  line: number;
  /** The original text, and its replacement. */
  from: string;
  to: string;
  source: string;
}

/** Typical mistakes in SQL, each applied at each matching place. */
const SLIPS: readonly [find: RegExp, put: string][] = [
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

/** Returns every possible slip in the SQL of a source, which is in its strings and templates. */
export function sqlSlipsOf(source: string): SqlSlip[] {
  const slips: SqlSlip[] = [];
  const file = ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node)) {
      const text = node.getText();
      if (SQL.test(text)) slips.push(...slipsIn(source, node.getStart(), text));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return slips.sort((one, other) => one.line - other.line);
}

function slipsIn(source: string, start: number, text: string): SqlSlip[] {
  return SLIPS.flatMap(([find, put]) =>
    Array.from(text.matchAll(find), (match) => {
      const at = start + match.index;
      const end = at + match[0].length;
      return {
        line: source.slice(0, at).split('\n').length,
        from: match[0].trim(),
        to: put.trim(),
        source: source.slice(0, at) + put + source.slice(end),
      };
    }),
  );
}
