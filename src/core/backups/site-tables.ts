/**
 * What a site consists of, and what a backup holds. A row comes after those that it points to, so that tables are filled in
 * this order and emptied in the other. Named one by one, since a database may hold tables that are not ours.
 */
export const SITE_TABLES: readonly string[] = [
  'products',
  'product_counts',
  'upvotes',
  'comments',
  'comment_keys',
  'site_facts',
  'acts',
  'removed_products',
  'removed_upvotes',
  'removed_comments',
];

/**
 * What belongs to a database and not to the site: the history of its schema, what its processes tell each other, and bursts of
 * upvotes, which are to be forgotten after a week and so must not live on in a file.
 */
export const OTHER_TABLES: readonly string[] = ['schema_migrations', 'changes', 'leases', 'upvote_bursts'];
