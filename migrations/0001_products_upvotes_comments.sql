-- The tables of the specification. Keys are made by the application and led by the product id wherever a table could be
-- distributed; there are no triggers, sequences or generated columns, so that distributed engines take it unchanged.
-- Ids compare bytewise (COLLATE "C"): the order of the list must not depend on the server's locale.
-- Times have the milliseconds that JSON carries, so that a keyset cursor is exact.

CREATE TABLE products (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL DEFAULT 'Untitled Product',
  description text NOT NULL DEFAULT 'No description available',
  image text NOT NULL DEFAULT '/pictures/placeholder.svg',
  tags text[] NOT NULL DEFAULT '{}',
  category text NOT NULL DEFAULT 'Uncategorized',
  maker text NOT NULL DEFAULT 'Unknown Maker',
  launch_date text NOT NULL DEFAULT 'Today',
  team jsonb NOT NULL DEFAULT '[]',
  screenshots text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Written by the application, which folds case the same way for the row and for the search term.
  search_text text NOT NULL DEFAULT '',
  tag_keys text[] NOT NULL DEFAULT '{}'
);

CREATE INDEX products_newest ON products (created_at DESC, id DESC);
CREATE INDEX products_tags ON products USING gin (tag_keys);

-- Kept beside the rows that they count and changed in the same transaction.
CREATE TABLE product_counts (
  product_id text COLLATE "C" PRIMARY KEY REFERENCES products (id) ON DELETE CASCADE,
  upvotes integer NOT NULL DEFAULT 0 CHECK (upvotes >= 0),
  comments integer NOT NULL DEFAULT 0 CHECK (comments >= 0)
);

CREATE INDEX product_counts_top ON product_counts (upvotes DESC, product_id DESC);
CREATE INDEX product_counts_discussed ON product_counts (comments DESC, product_id DESC);

CREATE TABLE upvotes (
  id uuid NOT NULL,
  product_id text COLLATE "C" NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  user_session text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- At most one per product and session, and the way in for both questions that are asked of this table.
  PRIMARY KEY (product_id, user_session)
);

CREATE TABLE comments (
  id uuid NOT NULL,
  product_id text COLLATE "C" NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  author_name text NOT NULL DEFAULT 'Anonymous',
  author_avatar text NOT NULL DEFAULT '/pictures/avatar-default.svg',
  author_badge text,
  content text NOT NULL,
  likes integer NOT NULL DEFAULT 0 CHECK (likes >= 0),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (product_id, id)
);

CREATE INDEX comments_id ON comments (id);
CREATE INDEX comments_best ON comments (product_id, likes DESC, created_at DESC, id DESC);
CREATE INDEX comments_newest ON comments (product_id, created_at DESC, id DESC);

-- Which comment an idempotency key of a session stands for.
CREATE TABLE comment_keys (
  user_session text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  comment_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (user_session, idempotency_key)
);

CREATE INDEX comment_keys_age ON comment_keys (created_at);

-- Small facts about this site that outlive a process, such as whether the sample catalogue was already offered.
CREATE TABLE site_facts (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);
