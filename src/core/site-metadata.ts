import type { Sql } from './database/database.ts';

/** State of the site that outlives a process. */
type MetadataName = 'sample_catalogue' | 'sample_loaded_at';

export async function getSiteMetadata(sql: Sql, name: MetadataName): Promise<string | undefined> {
  const [row] = await sql.query<{ value: string }>('SELECT value FROM site_metadata WHERE name = $1', [name]);
  return row?.value;
}

export async function setSiteMetadata(sql: Sql, name: MetadataName, value: string): Promise<void> {
  await sql.query(
    'INSERT INTO site_metadata (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value',
    [name, value],
  );
}

export async function deleteSiteMetadata(sql: Sql, name: MetadataName): Promise<void> {
  await sql.query('DELETE FROM site_metadata WHERE name = $1', [name]);
}
