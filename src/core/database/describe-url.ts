/** Host, port and database of a URL, without the role's password. */
export function describeUrl(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = hostname || searchParams.get('host') || 'localhost';
  return `${host}${port ? `:${port}` : ''}${pathname}`;
}
