-- The statement of `setUpvotes` from before the site had launches. It writes upvotes and their counts, but no networks,
-- and ignores launch windows.
WITH locked AS (
    SELECT product_id FROM product_counts
    WHERE product_id = ANY($1::text[]) AND (writes_blocked_until IS NULL OR writes_blocked_until <= statement_timestamp())
    ORDER BY product_id FOR UPDATE
  ), desired AS (
    SELECT w.* FROM unnest($1::text[], $2::text[], $3::boolean[], $4::uuid[]) AS w (product_id, user_session, upvoted, id)
    JOIN locked ON locked.product_id = w.product_id
  ), added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at)
    SELECT id, product_id, user_session, $5::timestamptz FROM desired WHERE upvoted ORDER BY product_id, user_session
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id, user_session
  ), removed AS (
    DELETE FROM upvotes USING desired
    WHERE NOT desired.upvoted AND upvotes.product_id = desired.product_id AND upvotes.user_session = desired.user_session
    RETURNING upvotes.product_id, upvotes.user_session
  ), changed AS (
    SELECT product_id, user_session, 1 AS change FROM added UNION ALL SELECT product_id, user_session, -1 FROM removed
  ), counted AS (
    UPDATE product_counts SET upvotes = product_counts.upvotes + totals.change
    FROM (SELECT product_id, sum(change)::integer AS change FROM changed GROUP BY product_id ORDER BY product_id) AS totals
    WHERE product_counts.product_id = totals.product_id
    RETURNING product_counts.product_id, product_counts.upvotes
  )
  SELECT product_id, user_session, change, NULL::integer AS upvotes FROM changed
  UNION ALL
  SELECT product_id, NULL, NULL, upvotes FROM counted
