-- Optional, for hosts that expose tables over REST to an anonymous key (PostgREST, Supabase). This file permits only
-- the calls of a browser app that works without the site's server (section 7 of the specification). Apply it as the
-- owner of the site's tables, and again after every upgrade. Then expose only the schema `rest`:
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -1 -f deploy/row-level-security.sql
--
-- The anonymous role is `anon`, as on such hosts. The header X-User-Session identifies the visitor. Without the site's
-- server, requests are not limited, the votes of a network are not capped, and suspected spam is not held. Tested by
-- tests/api/row-level-security.test.ts.

DO $$ BEGIN
  IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
    RAISE EXCEPTION 'Citus is not supported: it queries its servers as the anonymous role, which must not read tables there';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'anon') THEN CREATE ROLE anon NOLOGIN; END IF;
END $$;

-- Row-level security without a policy hides all rows from all roles except the owner, superusers and roles with
-- BYPASSRLS, whatever the host has granted.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'products', 'product_counts', 'upvotes', 'upvote_bursts', 'launches', 'leaderboards', 'leaderboard_counts',
    'retracted_upvotes', 'vote_decisions', 'tally_secrets', 'tally_parts', 'comments', 'comment_idempotency_keys',
    'removed_products', 'removed_upvotes', 'removed_tally_parts', 'removed_comments', 'audit_log', 'site_metadata',
    'changes', 'leases', 'submissions', 'submission_idempotency_keys', 'site_secrets', 'webhook_events',
    'webhook_receivers', 'schema_migrations', 'operators', 'operator_invitations', 'operator_sessions',
    'operator_devices', 'import_changes'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('REVOKE ALL ON %I FROM anon, PUBLIC', name);
  END LOOP;
END $$;

DROP SCHEMA IF EXISTS rest CASCADE;
CREATE SCHEMA rest;

-- The visitor of this request, or NULL, from the request headers that PostgREST provides.
CREATE FUNCTION rest.visitor() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT session FROM (
    SELECT nullif(current_setting('request.headers', true), '')::json ->> 'x-user-session' AS session
  ) AS request WHERE session ~ '^[A-Za-z0-9-]{9,100}$'
$$;

CREATE VIEW rest.products WITH (security_barrier) AS
  SELECT id, name, description, image, tags, category, maker, launch_date, team, screenshots, created_at
  FROM products WHERE created_at <= clock_timestamp();

-- Everyone can count the upvotes of launched products, but only the visitor who created a row sees its session and the
-- id for deleting it.
CREATE VIEW rest.upvotes WITH (security_barrier) AS
  SELECT CASE WHEN user_session = rest.visitor() THEN id END AS id, product_id,
    CASE WHEN user_session = rest.visitor() THEN user_session END AS user_session
  FROM upvotes WHERE EXISTS (SELECT FROM products WHERE products.id = product_id AND products.created_at <= clock_timestamp());

CREATE VIEW rest.comments WITH (security_barrier) AS
  SELECT id, product_id, author_name, author_avatar, author_badge, content, likes, created_at
  FROM comments WHERE held_session IS NULL AND hidden_at IS NULL
    AND EXISTS (SELECT FROM products WHERE products.id = product_id AND products.created_at <= clock_timestamp());

-- A statement may write only one row. Otherwise, it could lock many products, or like every comment.
CREATE FUNCTION rest.begin_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('rest.rows', '0', true);
  RETURN NULL;
END $$;

CREATE FUNCTION rest.expect_one_row() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('rest.rows') <> '0' THEN
    RAISE EXCEPTION 'A request may write only one row' USING ERRCODE = 'cardinality_violation';
  END IF;
  PERFORM set_config('rest.rows', '1', true);
END $$;

-- Writes run as the owner. Like core/upvotes and core/comments, they lock the counts first and update them.
CREATE FUNCTION rest.lock_product(id text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM 1 FROM product_counts JOIN products ON products.id = product_id AND products.created_at <= clock_timestamp()
    WHERE product_id = lock_product.id AND (writes_blocked_until IS NULL OR writes_blocked_until < clock_timestamp())
    FOR UPDATE OF product_counts;
  IF NOT FOUND THEN RAISE EXCEPTION 'Product not found' USING ERRCODE = 'foreign_key_violation'; END IF;
END $$;

CREATE FUNCTION rest.note_change(product_id text, comment_ids uuid[]) RETURNS void LANGUAGE sql SET search_path = public, pg_temp AS $$
  INSERT INTO changes (id, product_ids, catalogue, comment_ids, created_at)
  VALUES (gen_random_uuid(), ARRAY[product_id], false, comment_ids, clock_timestamp())
$$;

CREATE FUNCTION rest.write_upvote() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  changed integer;
  is_in_window boolean;
  decision text;
  removed upvotes;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.user_session IS DISTINCT FROM rest.visitor() OR NEW.user_session IS NULL THEN
      RAISE EXCEPTION 'An upvote must belong to the visitor of the request' USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM rest.expect_one_row();
    PERFORM rest.lock_product(NEW.product_id);
    NEW.id := gen_random_uuid();
    -- The operator's decision about an earlier vote of the visitor also applies to this one.
    SELECT verdict INTO decision FROM vote_decisions WHERE product_id = NEW.product_id AND user_session = NEW.user_session;
    INSERT INTO upvotes (id, product_id, user_session, created_at, verdict)
      VALUES (NEW.id, NEW.product_id, NEW.user_session, moment, decision)
      ON CONFLICT (product_id, user_session) DO NOTHING;
    GET DIAGNOSTICS changed = ROW_COUNT;
    -- The window of a final launch is closed, even if the clock was set back into it.
    is_in_window := EXISTS (SELECT FROM launches WHERE product_id = NEW.product_id AND NOT final
      AND moment >= launched_at AND moment < launched_at + interval '24 hours');
    UPDATE product_counts SET upvotes = upvotes + 1,
      counted = counted + (is_in_window AND coalesce(decision, 'included') = 'included')::integer,
      excluded_operator = excluded_operator + (is_in_window AND coalesce(decision, '') = 'operator')::integer,
      window_changes = window_changes + is_in_window::integer
    WHERE product_id = NEW.product_id AND changed > 0;
    PERFORM rest.note_change(NEW.product_id, '{}');
    RETURN NEW;
  END IF;
  -- The view hides the ids of other visitors' upvotes, so their rows are skipped before any lock is taken.
  IF OLD.id IS NULL THEN RETURN NULL; END IF;
  PERFORM rest.expect_one_row();
  PERFORM rest.lock_product(OLD.product_id);
  DELETE FROM upvotes WHERE product_id = OLD.product_id AND user_session = rest.visitor() AND id = OLD.id RETURNING * INTO removed;
  IF removed.id IS NULL THEN RETURN NULL; END IF;
  SELECT moment < launched_at + interval '24 hours' INTO is_in_window FROM launches WHERE product_id = OLD.product_id AND NOT final
    AND removed.created_at >= launched_at AND removed.created_at < launched_at + interval '24 hours';
  -- A vote that is withdrawn after the window still counts on leaderboards.
  IF NOT is_in_window THEN
    INSERT INTO retracted_upvotes (product_id, id, user_session, created_at, network, verdict)
    VALUES (removed.product_id, removed.id, removed.user_session, removed.created_at, removed.network, removed.verdict);
  END IF;
  is_in_window := coalesce(is_in_window, false);
  -- After the postponement of a launch is undone, the counts of the window lack earlier votes until the launch is back
  -- on its boards.
  UPDATE product_counts SET upvotes = upvotes - 1,
    counted = greatest(counted - (is_in_window AND coalesce(removed.verdict, 'included') = 'included')::integer, 0),
    excluded_network = greatest(excluded_network - (is_in_window AND coalesce(removed.verdict, '') = 'network')::integer, 0),
    excluded_operator = greatest(excluded_operator - (is_in_window AND coalesce(removed.verdict, '') = 'operator')::integer, 0),
    window_changes = window_changes + is_in_window::integer
  WHERE product_id = OLD.product_id;
  PERFORM rest.note_change(OLD.product_id, '{}');
  RETURN OLD;
END $$;

CREATE TRIGGER begin_statement BEFORE INSERT OR DELETE ON rest.upvotes FOR EACH STATEMENT EXECUTE FUNCTION rest.begin_statement();
CREATE TRIGGER write_upvote INSTEAD OF INSERT OR DELETE ON rest.upvotes FOR EACH ROW EXECUTE FUNCTION rest.write_upvote();

CREATE FUNCTION rest.add_comment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM rest.expect_one_row();
  -- The ASCII white space that JavaScript's trim() removes.
  NEW.content := btrim(NEW.content, E' \t\n\r\f\x0b');
  IF NEW.product_id IS NULL OR coalesce(NEW.content, '') = '' THEN
    RAISE EXCEPTION 'Product ID and content are required' USING ERRCODE = 'check_violation';
  END IF;
  IF length(NEW.content) > 2000 THEN
    RAISE EXCEPTION 'A comment has at most 2,000 characters' USING ERRCODE = 'check_violation';
  END IF;
  PERFORM rest.lock_product(NEW.product_id);
  -- Ignores the values of the request for these fields.
  NEW.id := gen_random_uuid();
  NEW.author_name := 'You';
  NEW.author_avatar := '/pictures/avatar-default.svg';
  NEW.author_badge := NULL;
  NEW.likes := 0;
  NEW.created_at := clock_timestamp()::timestamptz(3);
  INSERT INTO comments (id, product_id, author_name, author_avatar, content, created_at)
    VALUES (NEW.id, NEW.product_id, NEW.author_name, NEW.author_avatar, NEW.content, NEW.created_at);
  UPDATE product_counts SET comments = comments + 1 WHERE product_id = NEW.product_id;
  PERFORM rest.note_change(NEW.product_id, ARRAY[NEW.id]);
  RETURN NEW;
END $$;

CREATE TRIGGER add_comment INSTEAD OF INSERT ON rest.comments FOR EACH ROW EXECUTE FUNCTION rest.add_comment();

-- A client writes the number of likes that it read plus one. The trigger adds one to the current number instead, so no
-- concurrent like is lost.
CREATE FUNCTION rest.like_comment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM rest.expect_one_row();
  IF NEW.likes IS NULL OR NEW.likes < 1 OR NEW.likes > OLD.likes + 1 THEN
    RAISE EXCEPTION 'A like must add exactly one' USING ERRCODE = 'check_violation';
  END IF;
  UPDATE comments SET likes = likes + 1 WHERE product_id = OLD.product_id AND id = OLD.id AND held_session IS NULL AND hidden_at IS NULL
    RETURNING likes INTO NEW.likes;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM rest.note_change(OLD.product_id, ARRAY[OLD.id]);
  RETURN NEW;
END $$;

CREATE TRIGGER begin_statement BEFORE INSERT OR UPDATE ON rest.comments FOR EACH STATEMENT EXECUTE FUNCTION rest.begin_statement();
CREATE TRIGGER like_comment INSTEAD OF UPDATE ON rest.comments FOR EACH ROW EXECUTE FUNCTION rest.like_comment();

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA rest FROM PUBLIC;
GRANT USAGE ON SCHEMA rest TO anon;
GRANT EXECUTE ON FUNCTION rest.visitor() TO anon;
GRANT SELECT ON rest.products, rest.upvotes, rest.comments TO anon;
GRANT INSERT (product_id, user_session), DELETE ON rest.upvotes TO anon;
GRANT INSERT (product_id, author_name, author_avatar, content, likes), UPDATE (likes) ON rest.comments TO anon;
