-- What the operator did by command, for `log`. A row is written in the transaction that does it.

CREATE TABLE acts (
  id uuid PRIMARY KEY,
  acted_at timestamptz(3) NOT NULL,
  -- The operating system's name of the user who ran the command.
  operator text NOT NULL,
  act text COLLATE "C" NOT NULL,
  subject text NOT NULL,
  details jsonb NOT NULL
);

CREATE INDEX acts_newest ON acts (acted_at DESC, id DESC);

-- A comment that the operator hid is kept, in no list and in no count, until it is restored.

ALTER TABLE comments ADD COLUMN hidden_at timestamptz(3), ADD COLUMN hidden_reason text;

CREATE INDEX comments_hidden ON comments (created_at DESC, id DESC) WHERE hidden_at IS NOT NULL;
-- The newest of the whole site, for the operator's list.
CREATE INDEX comments_recent ON comments (created_at DESC, id DESC);

-- A product that the operator removed, with all that belongs to it. Its id is free meanwhile and may be removed again,
-- so that a removal has a key of its own.

CREATE TABLE removed_products (
  removal_id uuid PRIMARY KEY,
  product_id text COLLATE "C" NOT NULL,
  -- The same for all products of one command, which is undone as a whole.
  batch_id uuid NOT NULL,
  removed_at timestamptz(3) NOT NULL,
  upvotes integer NOT NULL,
  comments integer NOT NULL,
  -- The whole row of products, whatever columns that has by then.
  product jsonb NOT NULL
);

CREATE INDEX removed_products_product ON removed_products (product_id, removed_at DESC);
CREATE INDEX removed_products_newest ON removed_products (removed_at DESC, batch_id);

CREATE TABLE removed_upvotes (
  removal_id uuid NOT NULL REFERENCES removed_products (removal_id) ON DELETE CASCADE,
  id uuid NOT NULL,
  user_session text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (removal_id, user_session)
);

CREATE TABLE removed_comments (
  removal_id uuid NOT NULL REFERENCES removed_products (removal_id) ON DELETE CASCADE,
  id uuid NOT NULL,
  -- The whole row of comments.
  comment jsonb NOT NULL,
  PRIMARY KEY (removal_id, id)
);

-- While a product with very many upvotes is being removed, nothing is written to it until this moment: whoever writes
-- passes it over instead of waiting for its count. A moment and no flag, so that a command that is killed closes nothing.
ALTER TABLE product_counts ADD COLUMN closed_until timestamptz;

-- Networks from which unusually many sessions upvoted one product within an hour. `network` is a name that the server made
-- up for that hour, by a hash whose salt is gone after it; what is below the threshold is never written.

CREATE TABLE upvote_bursts (
  hour timestamptz(0) NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  sessions integer NOT NULL,
  PRIMARY KEY (hour, product_id, network)
);
