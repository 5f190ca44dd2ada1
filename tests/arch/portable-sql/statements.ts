import { dirname, join } from 'node:path/posix';
import ts from 'typescript';
import { filesBelow, readText } from '../source-files.ts';

/** An SQL statement that the program may send. */
export interface SourceStatement {
  /** The file and line, such as `src/core/keyset.ts:12`. */
  location: string;
  /** The variants of the statement: one for each combination of the values in the source code. */
  variants: string[];
}

/** Represents a value that is known only at run time. */
export const PLACEHOLDER = '\0';

/** The beginning of a statement, which distinguishes it from a condition or a message. */
const BEGINNING =
  /^\s*(?:WITH|SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|TRUNCATE|LOCK|SET|DECLARE|FETCH|CLOSE|ANALYZE|VACUUM|REINDEX|COPY|LISTEN|UNLISTEN|NOTIFY|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|PREPARE|EXECUTE|DISCARD|MERGE|GRANT|REVOKE|DO)\b(?!:)/;

const MAX_VARIANTS = 64;
/** The maximum depth of nested expressions and constants to resolve. */
const MAX_DEPTH = 8;

/** Returns every statement in the program's sources, except the statements of the embedded server. */
export async function sourceStatements(): Promise<SourceStatement[]> {
  const paths = (await filesBelow('src')).filter(
    (path) => /(?<!\.test)\.ts$/.test(path) && !path.startsWith('src/core/database/embedded/'),
  );
  const files = new Map(
    await Promise.all(
      paths.map(
        async (path): Promise<[string, ts.SourceFile]> => [
          path,
          ts.createSourceFile(path, await readText(path), ts.ScriptTarget.Latest, true),
        ],
      ),
    ),
  );
  return [...files].flatMap(([path, file]) => statementsOf(path, file, files));
}

function statementsOf(path: string, file: ts.SourceFile, files: ReadonlyMap<string, ts.SourceFile>): SourceStatement[] {
  const found: SourceStatement[] = [];
  const visit = (node: ts.Node): void => {
    if (isText(node) && BEGINNING.test(headOf(node))) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push({ location: `${path}:${line + 1}`, variants: variantsOf(node, files, 0) });
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

type Text = ts.TemplateExpression | ts.StringLiteralLike;

function isText(node: ts.Node): node is Text {
  return ts.isTemplateExpression(node) || ts.isStringLiteralLike(node);
}

function headOf(text: Text): string {
  return ts.isTemplateExpression(text) ? text.head.text : text.text;
}

/**
 * Returns the expressions whose value a `${…}` in a template may have. If a statement repeats a condition, every
 * occurrence takes the same branch.
 */
function branchesOf(
  embedded: ts.Expression,
  decided: ReadonlyMap<string, boolean>,
): { expression: ts.Expression; decided: Map<string, boolean> }[] {
  if (!ts.isConditionalExpression(embedded)) return [{ expression: embedded, decided: new Map(decided) }];
  const condition = embedded.condition.getText();
  const known = decided.get(condition);
  return (known === undefined ? [true, false] : [known]).map((isTrue) => ({
    expression: isTrue ? embedded.whenTrue : embedded.whenFalse,
    decided: new Map(decided).set(condition, isTrue),
  }));
}

/** Returns all strings to which an expression may evaluate. */
function variantsOf(expression: ts.Expression, files: ReadonlyMap<string, ts.SourceFile>, depth: number): string[] {
  const read = (inner: ts.Expression) => variantsOf(inner, files, depth + 1);
  if (depth > MAX_DEPTH) return [PLACEHOLDER];
  if (ts.isStringLiteralLike(expression)) return [expression.text];
  if (ts.isNumericLiteral(expression)) return [expression.text];
  if (ts.isParenthesizedExpression(expression) || ts.isAsExpression(expression)) return read(expression.expression);
  if (ts.isConditionalExpression(expression)) return [...read(expression.whenTrue), ...read(expression.whenFalse)];
  if (ts.isTemplateExpression(expression)) {
    let variants = [{ text: expression.head.text, decided: new Map<string, boolean>() }];
    for (const { expression: embedded, literal } of expression.templateSpans) {
      variants = variants.flatMap(({ text, decided }) =>
        branchesOf(embedded, decided).flatMap((branch) =>
          [...new Set(read(branch.expression))].map((value) => ({
            text: text + value + literal.text,
            decided: branch.decided,
          })),
        ),
      );
      if (variants.length > MAX_VARIANTS) throw new Error(`Too many variants: ${expression.getText()}`);
    }
    return variants.map(({ text }) => text);
  }
  if (ts.isIdentifier(expression)) {
    const value = initializerOf(expression, files);
    if (value) return read(value);
  }
  return [PLACEHOLDER];
}

/** Returns the value of a constant in the enclosing blocks, in the file, or in the file from which it is imported. */
function initializerOf(name: ts.Identifier, files: ReadonlyMap<string, ts.SourceFile>): ts.Expression | undefined {
  for (let scope: ts.Node = name.parent; scope; scope = scope.parent) {
    if (ts.isFunctionLike(scope) && scope.parameters.some((parameter) => parameter.name.getText() === name.text))
      return undefined;
    if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) continue;
    const value = constantOf(scope, name.text);
    if (value) return value;
    if (!ts.isSourceFile(scope)) continue;
    const from = importedFrom(scope, name.text);
    const exporting = from === undefined ? undefined : files.get(from);
    return exporting && constantOf(exporting, name.text);
  }
  return undefined;
}

function constantOf(scope: ts.Block | ts.SourceFile, name: string): ts.Expression | undefined {
  return scope.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .find((declaration) => ts.isIdentifier(declaration.name) && declaration.name.text === name)?.initializer;
}

function importedFrom(file: ts.SourceFile, name: string): string | undefined {
  const declaration = file.statements.filter(ts.isImportDeclaration).find(({ importClause }) => {
    const bindings = importClause?.namedBindings;
    return bindings && ts.isNamedImports(bindings) && bindings.elements.some((element) => element.name.text === name);
  });
  const specifier = declaration?.moduleSpecifier;
  return specifier && ts.isStringLiteral(specifier) ? join(dirname(file.fileName), specifier.text) : undefined;
}
