import { parse } from 'libpg-query';
import { DISTRIBUTED_TABLES } from '../../../src/core/database/citus.ts';

/** The fields of a node in PostgreSQL's syntax tree, by name. */
type Fields = Record<string, unknown>;

/**
 * Rules against SQL that one of the supported engines or poolers lacks (decision 18), by kind of syntax node. Each rule
 * returns the violation, if any.
 */
const RULES: Record<string, (fields: Fields) => string | false> = {
  CreateTrigStmt: () => 'a trigger',
  CreateEventTrigStmt: () => 'a trigger',
  RuleStmt: () => 'a rule',
  CreateFunctionStmt: () => 'a database function',
  DoStmt: () => 'an anonymous code block',
  CallStmt: () => 'a procedure',
  CreateSeqStmt: () => 'a sequence',
  AlterSeqStmt: () => 'a sequence',
  CopyStmt: () => 'COPY',
  ListenStmt: () => 'LISTEN',
  NotifyStmt: () => 'NOTIFY',
  PrepareStmt: () => 'a named prepared statement, which a pooler loses',
  ExecuteStmt: () => 'a named prepared statement, which a pooler loses',
  DiscardStmt: () => 'DISCARD of the session state, which a pooler shares',
  CreateTableAsStmt: () => 'a table created from a query',
  MergeStmt: () => 'MERGE',
  ColumnDef: ({ typeName }) => /"sval":"(?:small|big)?serial\d?"/.test(JSON.stringify(typeName)) && 'a sequence',
  Constraint: ({ contype }) =>
    (contype === 'CONSTR_IDENTITY' && 'an identity column, which is a sequence') ||
    (contype === 'CONSTR_GENERATED' && 'a generated column') ||
    (contype === 'CONSTR_EXCLUSION' && 'an exclusion constraint'),
  CreateStmt: (fields) => tableViolation(fields),
  DeclareCursorStmt: ({ options }) =>
    (Number(options) & CURSOR_WITH_HOLD) !== 0 && 'a cursor that outlives its transaction, which a pooler loses',
  VariableSetStmt: ({ kind, is_local: isLocal }) =>
    kind !== 'VAR_SET_MULTI' && isLocal !== true && 'a setting that outlives its transaction, which a pooler loses',
  UpdateStmt: ({ relation, targetList, whereClause }) =>
    isDistributed((relation as Fields).relname) &&
    ((/"sval":"(?:clock_timestamp|random|gen_random_uuid)"/.test(JSON.stringify([targetList, whereClause])) &&
      'a volatile function in an UPDATE of a distributed table') ||
      (addsInterval([targetList, whereClause]) && ADDS_INTERVAL)),
  DeleteStmt: ({ relation, whereClause }) =>
    isDistributed((relation as Fields).relname) && addsInterval(whereClause) && ADDS_INTERVAL,
  FuncCall: (fields) => functionViolation(fields),
  SelectStmt: (fields) => lockViolation(fields),
  RangeSubselect: ({ subquery }) => columnlessViolation(subquery) || unnestViolation(subquery),
  CommonTableExpr: ({ ctequery }) => unnestViolation(ctequery),
};

const ADDS_INTERVAL = 'an interval added to a time column, in an UPDATE or DELETE of a distributed table';

/**
 * Returns whether an interval is added to a time column or subtracted from it. Citus refuses this, because the result
 * may depend on the time zone, but accepts the difference of two times.
 */
function addsInterval(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  const { name, lexpr, rexpr } = node as Fields;
  const operands = [lexpr, rexpr].map((operand) => JSON.stringify(operand ?? null));
  const isSum = /"sval":"[+-]"/.test(JSON.stringify(name ?? null));
  if (
    isSum &&
    operands.some((text) => text.startsWith('{"ColumnRef"')) &&
    operands.some((text) => text.startsWith('{"TypeCast"') && text.includes('"sval":"interval"'))
  )
    return true;
  return Object.values(node).some(addsInterval);
}

/** CURSOR_OPT_HOLD in PostgreSQL's parsenodes.h. */
const CURSOR_WITH_HOLD = 0x20;

function tableViolation({ relation, inhRelations, partspec }: Fields): string | false {
  const persistence = (relation as Fields).relpersistence;
  if (persistence === 'u') return 'an UNLOGGED table';
  if (persistence === 't') return 'a temporary table, which a pooler loses';
  return (inhRelations !== undefined || partspec !== undefined) && 'inheritance or partitions';
}

function functionViolation({ funcname, args }: Fields): string | false {
  const name = /"sval":"([^"]+)"\}\}\]$/.exec(JSON.stringify(funcname))?.[1] ?? '';
  if (/^(?:nextval|currval|setval|lastval)$/.test(name)) return 'a sequence';
  if (/^pg_(?:try_)?advisory_/.test(name)) return 'an advisory lock';
  if (name === 'pg_notify') return 'NOTIFY';
  const isLocal = JSON.stringify(args ?? []).includes('"boolval":true');
  return name === 'set_config' && !isLocal && 'a setting that outlives its transaction, which a pooler loses';
}

const isDistributed = (name: unknown) => DISTRIBUTED_TABLES.some((table) => table.name === name);

function lockViolation({ lockingClause, fromClause }: Fields): string | false {
  if (lockingClause === undefined) return false;
  const tables = [...JSON.stringify(fromClause ?? []).matchAll(/"relname":"([^"]+)"/g)].map(([, name]) => name);
  return tables.some(isDistributed) && 'a lock on rows of many products (`adaptToCitus` omits marked ones)';
}

/** Citus may store the rows of a subquery, which fails without columns. */
function columnlessViolation(subquery: unknown): string | false {
  const select = (subquery as { SelectStmt?: Fields }).SelectStmt;
  const isColumnless = select?.op === 'SETOP_NONE' && select.targetList === undefined && !select.valuesLists;
  return isColumnless && 'a subquery in FROM without columns';
}

/**
 * If several arrays are unnested beside a distributed table, Citus takes the type of the first for all. In another
 * subquery, the arrays keep their types.
 */
function unnestViolation(subquery: unknown): string | false {
  const { targetList, fromClause } = (subquery as { SelectStmt?: Fields }).SelectStmt ?? {};
  const [columns, sources] = [JSON.stringify(targetList ?? []), JSON.stringify(fromClause ?? [])];
  if (![...sources.matchAll(/"relname":"([^"]+)"/g)].some(([, name]) => isDistributed(name))) return false;
  return (
    unnestedColumns(fromClause).some(
      ({ name, type }, _, [first]) => type !== first?.type && columns.includes(`{"String":{"sval":"${name}"}}`),
    ) && 'a column unnested beside a distributed table, with another type than the first'
  );
}

/** Returns the columns of an `unnest` of several arrays, with their types. */
function unnestedColumns(node: unknown): { name: string; type: string }[] {
  if (typeof node !== 'object' || node === null) return [];
  if ('RangeSubselect' in node) return [];
  const { RangeFunction } = node as { RangeFunction?: Fields };
  if (!RangeFunction || RangeFunction.ordinality) return Object.values(node).flatMap(unnestedColumns);
  const names = [...JSON.stringify(RangeFunction.alias ?? {}).matchAll(/"sval":"([^"]+)"/g)];
  const types = [...JSON.stringify(RangeFunction.functions).matchAll(/"sval":"([^"]+)"\}\}\],"typemod"/g)];
  return names.map(([, name = ''], index) => ({ name, type: types[index]?.[1] ?? '' }));
}

/** Returns the non-portable parts of an SQL statement, or an empty list if there are none. @throws if it is not SQL. */
export async function violationsOf(sql: string): Promise<string[]> {
  const violations = new Set<string>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    else if (typeof node === 'object' && node !== null) {
      for (const [kind, fields] of Object.entries(node)) {
        const violation = RULES[kind]?.(fields as Fields);
        if (violation) violations.add(violation);
        visit(fields);
      }
    }
  };
  visit(await parse(sql));
  return [...violations];
}

/**
 * Returns the parts of a migration that fail on distributed tables: keys without the distribution column and, unless
 * `mayReferenceDistributed`, new tables that reference distributed ones.
 */
export async function distributionViolationsOf(
  sql: string,
  { mayReferenceDistributed }: { mayReferenceDistributed: boolean },
): Promise<string[]> {
  const violations: string[] = [];
  const tree: unknown = await parse(sql);
  const { stmts = [] } = tree as { stmts?: { stmt: Record<string, Fields> }[] };
  for (const { stmt } of stmts) {
    const [kind = '', fields = {}] = Object.entries(stmt)[0] ?? [];
    const table = (fields.relation as Fields | undefined)?.relname;
    if (kind === 'CreateStmt' && !mayReferenceDistributed && referencesDistributed(fields))
      violations.push(`${table} references a distributed table`);
    const column = DISTRIBUTED_TABLES.find(({ name }) => name === table)?.column;
    if (column === undefined) continue;
    for (const columns of uniqueKeysOf(kind, fields))
      if (!columns.includes(column)) violations.push(`a key of ${table} (${columns.join(', ')}) without ${column}`);
  }
  return violations;
}

function referencesDistributed(fields: Fields): boolean {
  const referenced = JSON.stringify(fields).matchAll(/"pktable":\{"relname":"([^"]+)"/g);
  return [...referenced].some(([, name]) => isDistributed(name));
}

/** Returns the columns of each primary or unique key that a statement creates. */
function uniqueKeysOf(kind: string, fields: Fields): string[][] {
  if (kind === 'IndexStmt') {
    const names = [...JSON.stringify(fields.indexParams).matchAll(/"IndexElem":\{"name":"([^"]+)"/g)];
    return fields.unique === true ? [names.map(([, name = '']) => name)] : [];
  }
  if (kind !== 'CreateStmt') return [];
  return (fields.tableElts as Record<string, Fields>[]).flatMap(({ ColumnDef, Constraint }) => {
    const constraints = (ColumnDef?.constraints ?? (Constraint ? [{ Constraint }] : [])) as { Constraint: Fields }[];
    return constraints
      .filter((each) => each.Constraint.contype === 'CONSTR_PRIMARY' || each.Constraint.contype === 'CONSTR_UNIQUE')
      .map((each) => {
        if (ColumnDef) return [String(ColumnDef.colname)];
        return [...JSON.stringify(each.Constraint.keys).matchAll(/"sval":"([^"]+)"/g)].map(([, name = '']) => name);
      });
  });
}
