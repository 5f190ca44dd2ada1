import type { Sql } from './database/database.ts';

/** What a site remembers about itself beyond a process's life. */
type FactName = 'sample_catalogue';

export async function getSiteFact(sql: Sql, name: FactName): Promise<string | undefined> {
  const [row] = await sql.query<{ value: string }>('SELECT value FROM site_facts WHERE name = $1', [name]);
  return row?.value;
}

export async function setSiteFact(sql: Sql, name: FactName, value: string): Promise<void> {
  await sql.query(
    'INSERT INTO site_facts (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value',
    [name, value],
  );
}
