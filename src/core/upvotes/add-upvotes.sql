-- Snapshot written by tests/arch/upvotes-statement.test.ts. Do not edit.

-- Variant: all added votes are within the cap
WITH writable AS (
    SELECT product_id, window_from, window_from + interval '24 hours' AS window_end, product_counts.window_from > $6::timestamptz AS in_window FROM product_counts
    WHERE product_id = ANY($1::text[]) AND window_from <= $5::timestamptz AND (writes_blocked_until IS NULL OR writes_blocked_until < clock_timestamp()) AND (writes_paused_until IS NULL OR writes_paused_until < clock_timestamp()) AND NOT has_decisions
    ORDER BY product_id FOR UPDATE /* omitted on Citus */
  ), desired AS (
    SELECT d.*
    FROM unnest($1::text[], $2::text[], $3::boolean[], $4::uuid[], $7::uuid[])
      AS d (product_id, user_session, upvoted, id, network)
    JOIN writable ON writable.product_id = d.product_id
  ), added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at, network)
    SELECT id, product_id, user_session, $5::timestamptz, network
    FROM desired
    WHERE upvoted
    ORDER BY product_id, user_session
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id, user_session
  ), totals AS (
    SELECT product_id, count(*)::integer AS change, json_agg(user_session) AS added, count(*)::integer AS counted
    FROM (SELECT *, 1 AS change, true AS was_in_window FROM added) AS changed GROUP BY product_id ORDER BY product_id
  )
  UPDATE product_counts SET upvotes = product_counts.upvotes + totals.change,
    counted = greatest(product_counts.counted + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.counted ELSE 0 END, 0),
    window_changes = product_counts.window_changes + CASE WHEN product_counts.window_from > $6::timestamptz THEN 1 ELSE 0 END
  FROM totals WHERE product_counts.product_id = totals.product_id
  RETURNING product_counts.product_id, product_counts.upvotes, product_counts.window_changes,
    totals.added;

-- Variant: added votes for a product come from different networks
WITH writable AS (
    SELECT product_id, window_from, window_from + interval '24 hours' AS window_end, product_counts.window_from > $6::timestamptz AS in_window FROM product_counts
    WHERE product_id = ANY($1::text[]) AND window_from <= $5::timestamptz AND (writes_blocked_until IS NULL OR writes_blocked_until < clock_timestamp()) AND (writes_paused_until IS NULL OR writes_paused_until < clock_timestamp()) AND NOT has_decisions
    ORDER BY product_id FOR UPDATE /* omitted on Citus */
  ), desired AS (
    SELECT d.*, writable.window_from, writable.window_end, writable.in_window
    FROM unnest($1::text[], $2::text[], $3::boolean[], $4::uuid[], $7::uuid[])
      AS d (product_id, user_session, upvoted, id, network)
    JOIN writable ON writable.product_id = d.product_id
  ), added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at, network, verdict)
    SELECT id, product_id, user_session, $5::timestamptz, network, CASE WHEN in_window AND network IS NOT NULL AND (SELECT count(*) FROM (
      SELECT 1 FROM upvotes u
      WHERE u.product_id = desired.product_id AND u.network = desired.network AND u.created_at >= desired.window_from LIMIT $8
    ) AS earlier) >= $8 THEN 'network' END
    FROM desired
    WHERE upvoted
    ORDER BY product_id, user_session
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id, user_session, verdict
  ), totals AS (
    SELECT product_id, count(*)::integer AS change, json_agg(user_session) AS added, coalesce(sum(change) FILTER (WHERE was_in_window AND (verdict IS NULL OR verdict = 'included')), 0)::integer AS counted, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'network'), 0)::integer AS network, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'operator'), 0)::integer AS operator
    FROM (SELECT *, 1 AS change, true AS was_in_window FROM added) AS changed GROUP BY product_id ORDER BY product_id
  )
  UPDATE product_counts SET upvotes = product_counts.upvotes + totals.change,
    counted = greatest(product_counts.counted + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.counted ELSE 0 END, 0),
      excluded_network = greatest(product_counts.excluded_network + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.network ELSE 0 END, 0),
      excluded_operator = greatest(product_counts.excluded_operator + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.operator ELSE 0 END, 0),
    window_changes = product_counts.window_changes + CASE WHEN product_counts.window_from > $6::timestamptz THEN 1 ELSE 0 END
  FROM totals WHERE product_counts.product_id = totals.product_id
  RETURNING product_counts.product_id, product_counts.upvotes, product_counts.window_changes,
    totals.added;

-- Variant: added votes for a product may share a network
WITH writable AS (
    SELECT product_id, window_from, window_from + interval '24 hours' AS window_end, product_counts.window_from > $6::timestamptz AS in_window FROM product_counts
    WHERE product_id = ANY($1::text[]) AND window_from <= $5::timestamptz AND (writes_blocked_until IS NULL OR writes_blocked_until < clock_timestamp()) AND (writes_paused_until IS NULL OR writes_paused_until < clock_timestamp()) AND NOT has_decisions
    ORDER BY product_id FOR UPDATE /* omitted on Citus */
  ), desired AS (
    SELECT d.*, writable.window_from, writable.window_end, writable.in_window
    FROM unnest($1::text[], $2::text[], $3::boolean[], $4::uuid[], $7::uuid[])
      AS d (product_id, user_session, upvoted, id, network)
    JOIN writable ON writable.product_id = d.product_id
  ), capped AS (
    SELECT id, product_id, user_session, network,
      CASE WHEN in_window AND network IS NOT NULL
        AND row_number() OVER (PARTITION BY product_id, network ORDER BY id) + (SELECT count(*) FROM (
      SELECT 1 FROM upvotes u
      WHERE u.product_id = desired.product_id AND u.network = desired.network AND u.created_at >= desired.window_from LIMIT $8
    ) AS earlier) > $8
      THEN 'network' END AS verdict
    FROM desired
    WHERE upvoted AND NOT EXISTS (
      SELECT FROM upvotes u WHERE u.product_id = desired.product_id AND u.user_session = desired.user_session
    )
  ), added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at, network, verdict)
    SELECT id, product_id, user_session, $5::timestamptz, network, capped.verdict
    FROM capped
    
    ORDER BY product_id, user_session
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id, user_session, verdict
  ), totals AS (
    SELECT product_id, count(*)::integer AS change, json_agg(user_session) AS added, coalesce(sum(change) FILTER (WHERE was_in_window AND (verdict IS NULL OR verdict = 'included')), 0)::integer AS counted, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'network'), 0)::integer AS network, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'operator'), 0)::integer AS operator
    FROM (SELECT *, 1 AS change, true AS was_in_window FROM added) AS changed GROUP BY product_id ORDER BY product_id
  )
  UPDATE product_counts SET upvotes = product_counts.upvotes + totals.change,
    counted = greatest(product_counts.counted + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.counted ELSE 0 END, 0),
      excluded_network = greatest(product_counts.excluded_network + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.network ELSE 0 END, 0),
      excluded_operator = greatest(product_counts.excluded_operator + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.operator ELSE 0 END, 0),
    window_changes = product_counts.window_changes + CASE WHEN product_counts.window_from > $6::timestamptz THEN 1 ELSE 0 END
  FROM totals WHERE product_counts.product_id = totals.product_id
  RETURNING product_counts.product_id, product_counts.upvotes, product_counts.window_changes,
    totals.added;

-- Variant: all added votes are within the cap, and products have decisions
WITH writable AS (
    SELECT product_id, window_from, window_from + interval '24 hours' AS window_end, product_counts.window_from > $6::timestamptz AS in_window FROM product_counts
    WHERE product_id = ANY($1::text[]) AND window_from <= $5::timestamptz AND (writes_blocked_until IS NULL OR writes_blocked_until < clock_timestamp()) AND (writes_paused_until IS NULL OR writes_paused_until < clock_timestamp())
    ORDER BY product_id FOR UPDATE /* omitted on Citus */
  ), desired AS (
    SELECT d.*
    FROM unnest($1::text[], $2::text[], $3::boolean[], $4::uuid[], $7::uuid[])
      AS d (product_id, user_session, upvoted, id, network)
    JOIN writable ON writable.product_id = d.product_id
  ), decided AS (
    SELECT d.product_id, d.user_session, d.verdict
    FROM desired JOIN vote_decisions d ON d.product_id = desired.product_id AND d.user_session = desired.user_session
  ), added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at, network, verdict)
    SELECT id, product_id, user_session, $5::timestamptz, network, coalesce(decided.verdict, NULL)
    FROM desired LEFT JOIN decided USING (product_id, user_session)
    WHERE upvoted
    ORDER BY product_id, user_session
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id, user_session, verdict
  ), totals AS (
    SELECT product_id, count(*)::integer AS change, json_agg(user_session) AS added, coalesce(sum(change) FILTER (WHERE was_in_window AND (verdict IS NULL OR verdict = 'included')), 0)::integer AS counted, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'network'), 0)::integer AS network, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'operator'), 0)::integer AS operator
    FROM (SELECT *, 1 AS change, true AS was_in_window FROM added) AS changed GROUP BY product_id ORDER BY product_id
  )
  UPDATE product_counts SET upvotes = product_counts.upvotes + totals.change,
    counted = greatest(product_counts.counted + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.counted ELSE 0 END, 0),
      excluded_network = greatest(product_counts.excluded_network + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.network ELSE 0 END, 0),
      excluded_operator = greatest(product_counts.excluded_operator + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.operator ELSE 0 END, 0),
    window_changes = product_counts.window_changes + CASE WHEN product_counts.window_from > $6::timestamptz THEN 1 ELSE 0 END
  FROM totals WHERE product_counts.product_id = totals.product_id
  RETURNING product_counts.product_id, product_counts.upvotes, product_counts.window_changes,
    totals.added;

-- Variant: added votes for a product come from different networks, and products have decisions
WITH writable AS (
    SELECT product_id, window_from, window_from + interval '24 hours' AS window_end, product_counts.window_from > $6::timestamptz AS in_window FROM product_counts
    WHERE product_id = ANY($1::text[]) AND window_from <= $5::timestamptz AND (writes_blocked_until IS NULL OR writes_blocked_until < clock_timestamp()) AND (writes_paused_until IS NULL OR writes_paused_until < clock_timestamp())
    ORDER BY product_id FOR UPDATE /* omitted on Citus */
  ), desired AS (
    SELECT d.*, writable.window_from, writable.window_end, writable.in_window
    FROM unnest($1::text[], $2::text[], $3::boolean[], $4::uuid[], $7::uuid[])
      AS d (product_id, user_session, upvoted, id, network)
    JOIN writable ON writable.product_id = d.product_id
  ), decided AS (
    SELECT d.product_id, d.user_session, d.verdict
    FROM desired JOIN vote_decisions d ON d.product_id = desired.product_id AND d.user_session = desired.user_session
  ), added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at, network, verdict)
    SELECT id, product_id, user_session, $5::timestamptz, network, coalesce(decided.verdict, CASE WHEN in_window AND network IS NOT NULL AND (SELECT count(*) FROM (
      SELECT 1 FROM upvotes u
      WHERE u.product_id = desired.product_id AND u.network = desired.network AND u.created_at >= desired.window_from LIMIT $8
    ) AS earlier) >= $8 THEN 'network' END)
    FROM desired LEFT JOIN decided USING (product_id, user_session)
    WHERE upvoted
    ORDER BY product_id, user_session
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id, user_session, verdict
  ), totals AS (
    SELECT product_id, count(*)::integer AS change, json_agg(user_session) AS added, coalesce(sum(change) FILTER (WHERE was_in_window AND (verdict IS NULL OR verdict = 'included')), 0)::integer AS counted, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'network'), 0)::integer AS network, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'operator'), 0)::integer AS operator
    FROM (SELECT *, 1 AS change, true AS was_in_window FROM added) AS changed GROUP BY product_id ORDER BY product_id
  )
  UPDATE product_counts SET upvotes = product_counts.upvotes + totals.change,
    counted = greatest(product_counts.counted + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.counted ELSE 0 END, 0),
      excluded_network = greatest(product_counts.excluded_network + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.network ELSE 0 END, 0),
      excluded_operator = greatest(product_counts.excluded_operator + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.operator ELSE 0 END, 0),
    window_changes = product_counts.window_changes + CASE WHEN product_counts.window_from > $6::timestamptz THEN 1 ELSE 0 END
  FROM totals WHERE product_counts.product_id = totals.product_id
  RETURNING product_counts.product_id, product_counts.upvotes, product_counts.window_changes,
    totals.added;

-- Variant: added votes for a product may share a network, and products have decisions
WITH writable AS (
    SELECT product_id, window_from, window_from + interval '24 hours' AS window_end, product_counts.window_from > $6::timestamptz AS in_window FROM product_counts
    WHERE product_id = ANY($1::text[]) AND window_from <= $5::timestamptz AND (writes_blocked_until IS NULL OR writes_blocked_until < clock_timestamp()) AND (writes_paused_until IS NULL OR writes_paused_until < clock_timestamp())
    ORDER BY product_id FOR UPDATE /* omitted on Citus */
  ), desired AS (
    SELECT d.*, writable.window_from, writable.window_end, writable.in_window
    FROM unnest($1::text[], $2::text[], $3::boolean[], $4::uuid[], $7::uuid[])
      AS d (product_id, user_session, upvoted, id, network)
    JOIN writable ON writable.product_id = d.product_id
  ), capped AS (
    SELECT id, product_id, user_session, network,
      CASE WHEN in_window AND network IS NOT NULL
        AND row_number() OVER (PARTITION BY product_id, network ORDER BY id) + (SELECT count(*) FROM (
      SELECT 1 FROM upvotes u
      WHERE u.product_id = desired.product_id AND u.network = desired.network AND u.created_at >= desired.window_from LIMIT $8
    ) AS earlier) > $8
      THEN 'network' END AS verdict
    FROM desired
    WHERE upvoted AND NOT EXISTS (
      SELECT FROM upvotes u WHERE u.product_id = desired.product_id AND u.user_session = desired.user_session
    )
  ), decided AS (
    SELECT d.product_id, d.user_session, d.verdict
    FROM desired JOIN vote_decisions d ON d.product_id = desired.product_id AND d.user_session = desired.user_session
  ), added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at, network, verdict)
    SELECT id, product_id, user_session, $5::timestamptz, network, coalesce(decided.verdict, capped.verdict)
    FROM capped LEFT JOIN decided USING (product_id, user_session)
    
    ORDER BY product_id, user_session
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id, user_session, verdict
  ), totals AS (
    SELECT product_id, count(*)::integer AS change, json_agg(user_session) AS added, coalesce(sum(change) FILTER (WHERE was_in_window AND (verdict IS NULL OR verdict = 'included')), 0)::integer AS counted, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'network'), 0)::integer AS network, coalesce(sum(change) FILTER (WHERE was_in_window AND verdict = 'operator'), 0)::integer AS operator
    FROM (SELECT *, 1 AS change, true AS was_in_window FROM added) AS changed GROUP BY product_id ORDER BY product_id
  )
  UPDATE product_counts SET upvotes = product_counts.upvotes + totals.change,
    counted = greatest(product_counts.counted + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.counted ELSE 0 END, 0),
      excluded_network = greatest(product_counts.excluded_network + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.network ELSE 0 END, 0),
      excluded_operator = greatest(product_counts.excluded_operator + CASE WHEN product_counts.window_from > $6::timestamptz THEN totals.operator ELSE 0 END, 0),
    window_changes = product_counts.window_changes + CASE WHEN product_counts.window_from > $6::timestamptz THEN 1 ELSE 0 END
  FROM totals WHERE product_counts.product_id = totals.product_id
  RETURNING product_counts.product_id, product_counts.upvotes, product_counts.window_changes,
    totals.added;
