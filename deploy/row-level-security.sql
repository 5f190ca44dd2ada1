-- For hosts that expose tables over REST to an anonymous key (PostgREST, Supabase): the nine calls of a browser that needs no server of
-- ours, and nothing more. Optional; the site itself neither needs nor notices it. Apply it as the role that owns the site's tables, after
-- every upgrade again (it may be applied any number of times), then expose the schema `rest` and no other:
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -1 -f deploy/row-level-security.sql
--
-- The anonymous role is called `anon`, as such hosts call it. A request names its visitor by the header X-User-Session. What only the
-- site's server does is not done here: limits on how often, and holding back what looks like spam. Tested by tests/api/row-level-security.test.ts.

DO $$ BEGIN
  IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
    RAISE EXCEPTION 'Not for a database with Citus: it asks its servers in the name of the anonymous role, which may read no table there';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'anon') THEN CREATE ROLE anon NOLOGIN; END IF;
END $$;

-- The tables are closed: row-level security without any policy shows nobody a row but their owner, whatever a host has granted.
ALTER TABLE products ENABLE ROW LEVEL SECURITY;
ALTER TABLE product_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE upvotes ENABLE ROW LEVEL SECURITY;
ALTER TABLE comments ENABLE ROW LEVEL SECURITY;
ALTER TABLE comment_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE site_facts ENABLE ROW LEVEL SECURITY;
ALTER TABLE acts ENABLE ROW LEVEL SECURITY;
ALTER TABLE removed_products ENABLE ROW LEVEL SECURITY;
ALTER TABLE removed_upvotes ENABLE ROW LEVEL SECURITY;
ALTER TABLE removed_comments ENABLE ROW LEVEL SECURITY;
ALTER TABLE schema_migrations ENABLE ROW LEVEL SECURITY;
ALTER TABLE changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE leases ENABLE ROW LEVEL SECURITY;
ALTER TABLE upvote_bursts ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON products, product_counts, upvotes, comments, comment_keys, site_facts, acts, removed_products, removed_upvotes,
  removed_comments, schema_migrations, changes, leases, upvote_bursts FROM anon, PUBLIC;

DROP SCHEMA IF EXISTS rest CASCADE;
CREATE SCHEMA rest;

-- The visitor of this request, or NULL: as PostgREST hands headers on.
CREATE FUNCTION rest.visitor() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT session FROM (
    SELECT nullif(current_setting('request.headers', true), '')::json ->> 'x-user-session' AS session
  ) AS request WHERE session ~ '^[A-Za-z0-9-]{9,100}$'
$$;

CREATE VIEW rest.products WITH (security_barrier) AS
  SELECT id, name, description, image, tags, category, maker, launch_date, team, screenshots, created_at FROM products;

-- All rows can be counted. Whose they are, and by which id they could be deleted, only the visitor sees who made them.
CREATE VIEW rest.upvotes WITH (security_barrier) AS
  SELECT CASE WHEN user_session = rest.visitor() THEN id END AS id, product_id,
    CASE WHEN user_session = rest.visitor() THEN user_session END AS user_session
  FROM upvotes;

CREATE VIEW rest.comments WITH (security_barrier) AS
  SELECT id, product_id, author_name, author_avatar, author_badge, content, likes, created_at
  FROM comments WHERE held_for IS NULL AND hidden_at IS NULL;

-- Writes run as the owner and keep the counts, as core/upvotes and core/comments do: counts are locked first.
CREATE FUNCTION rest.lock_product(id text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM 1 FROM product_counts WHERE product_id = id AND (closed_until IS NULL OR closed_until < clock_timestamp()) FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'Product not found' USING ERRCODE = 'foreign_key_violation'; END IF;
END $$;

CREATE FUNCTION rest.note_change(product_id text, comment_ids uuid[]) RETURNS void LANGUAGE sql SET search_path = public, pg_temp AS $$
  INSERT INTO changes (id, product_ids, catalogue, comment_ids, noted_at)
  VALUES (gen_random_uuid(), ARRAY[product_id], false, comment_ids, clock_timestamp())
$$;

CREATE FUNCTION rest.write_upvote() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  changed integer;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.user_session IS DISTINCT FROM rest.visitor() OR NEW.user_session IS NULL THEN
      RAISE EXCEPTION 'An upvote is made for the visitor who asks' USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM rest.lock_product(NEW.product_id);
    NEW.id := gen_random_uuid();
    INSERT INTO upvotes (id, product_id, user_session) VALUES (NEW.id, NEW.product_id, NEW.user_session)
      ON CONFLICT (product_id, user_session) DO NOTHING;
    GET DIAGNOSTICS changed = ROW_COUNT;
    UPDATE product_counts SET upvotes = upvotes + changed WHERE product_id = NEW.product_id AND changed > 0;
    PERFORM rest.note_change(NEW.product_id, '{}');
    RETURN NEW;
  END IF;
  PERFORM rest.lock_product(OLD.product_id);
  DELETE FROM upvotes WHERE product_id = OLD.product_id AND user_session = rest.visitor() AND id = OLD.id;
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF changed = 0 THEN RETURN NULL; END IF;
  UPDATE product_counts SET upvotes = upvotes - 1 WHERE product_id = OLD.product_id;
  PERFORM rest.note_change(OLD.product_id, '{}');
  RETURN OLD;
END $$;

CREATE TRIGGER write_upvote INSTEAD OF INSERT OR DELETE ON rest.upvotes FOR EACH ROW EXECUTE FUNCTION rest.write_upvote();

CREATE FUNCTION rest.add_comment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- White space as JavaScript's trim() knows it, as far as it is of one byte.
  NEW.content := btrim(NEW.content, E' \t\n\r\f\v');
  IF NEW.product_id IS NULL OR coalesce(NEW.content, '') = '' THEN
    RAISE EXCEPTION 'Product ID and content are required' USING ERRCODE = 'check_violation';
  END IF;
  IF length(NEW.content) > 2000 THEN
    RAISE EXCEPTION 'A comment has at most 2,000 characters' USING ERRCODE = 'check_violation';
  END IF;
  PERFORM rest.lock_product(NEW.product_id);
  -- Whatever was asked for: the author is always the same, without a badge, and likes begin at 0.
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

-- A client reads the likes and writes one more. Here that adds one to what there is by then, so that none of many at once is lost.
CREATE FUNCTION rest.like_comment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.likes IS NULL OR NEW.likes < 1 OR NEW.likes > OLD.likes + 1 THEN
    RAISE EXCEPTION 'A like adds one' USING ERRCODE = 'check_violation';
  END IF;
  UPDATE comments SET likes = likes + 1 WHERE product_id = OLD.product_id AND id = OLD.id AND held_for IS NULL AND hidden_at IS NULL
    RETURNING likes INTO NEW.likes;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM rest.note_change(OLD.product_id, ARRAY[OLD.id]);
  RETURN NEW;
END $$;

CREATE TRIGGER like_comment INSTEAD OF UPDATE ON rest.comments FOR EACH ROW EXECUTE FUNCTION rest.like_comment();

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA rest FROM PUBLIC;
GRANT USAGE ON SCHEMA rest TO anon;
GRANT EXECUTE ON FUNCTION rest.visitor() TO anon;
GRANT SELECT ON rest.products, rest.upvotes, rest.comments TO anon;
GRANT INSERT (product_id, user_session), DELETE ON rest.upvotes TO anon;
GRANT INSERT (product_id, author_name, author_avatar, content, likes), UPDATE (likes) ON rest.comments TO anon;
