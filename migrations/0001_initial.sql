-- The schema of a Groundswell site: what visitors see and do, moderation, the audit log, and what processes share.
--
-- The application generates every key. Keys start with the product id wherever a table may be distributed. There are no
-- triggers, sequences or generated columns, so distributed engines accept this file unchanged.
-- Ids compare bytewise (COLLATE "C"), so the order of a list does not depend on the server's locale.
-- Times have millisecond precision, like the JSON of the API, so keyset cursors are exact.

-- Products -----------------------------------------------------------------------------------------------------------

CREATE TABLE products (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL DEFAULT 'Untitled Product',
  description text NOT NULL DEFAULT 'No description available',
  image text NOT NULL DEFAULT '/pictures/placeholder.svg',
  tags text[] NOT NULL DEFAULT '{}',
  category text NOT NULL DEFAULT 'Uncategorized',
  maker text NOT NULL DEFAULT 'Unknown Maker',
  -- A label chosen by the maker, such as "Today". created_at orders the list.
  launch_date text NOT NULL DEFAULT 'Today',
  -- [{"name": …, "role": …, "avatar": …}]
  team jsonb NOT NULL DEFAULT '[]',
  screenshots text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Name and description, and the tags, case-folded by the application exactly as it folds a search term.
  search_text text NOT NULL DEFAULT '',
  tag_keys text[] NOT NULL DEFAULT '{}'
);

CREATE INDEX products_newest ON products (created_at DESC, id DESC);
CREATE INDEX products_tags ON products USING gin (tag_keys);
-- Operators list products by name, which is the beginning of search_text, and by category.
CREATE INDEX products_name ON products ((left(search_text, 48)) COLLATE "C", id);
CREATE INDEX products_category ON products ((lower(category)) COLLATE "C", created_at DESC, id DESC);
-- The trigram index of the search, products_search, is created separately: it needs an extension that some servers lack.

-- The counts of a product's upvotes and public comments, updated in the transaction that writes those rows.
CREATE TABLE product_counts (
  product_id text COLLATE "C" PRIMARY KEY REFERENCES products (id) ON DELETE CASCADE,
  upvotes integer NOT NULL DEFAULT 0 CHECK (upvotes >= 0),
  comments integer NOT NULL DEFAULT 0 CHECK (comments >= 0),
  -- When the launch window begins: equal to launches.launched_at once the launch is placed for it, '-infinity' once its result
  -- is final. It is stored beside the counts, so casting a vote reads and locks one row. There are no upvotes before it.
  window_from timestamptz(3) NOT NULL DEFAULT '-infinity',
  -- Votes that were cast inside the window: those that count on leaderboards, and those that do not, by reason.
  counted integer NOT NULL DEFAULT 0 CHECK (counted >= 0),
  excluded_network integer NOT NULL DEFAULT 0 CHECK (excluded_network >= 0),
  excluded_operator integer NOT NULL DEFAULT 0 CHECK (excluded_operator >= 0),
  -- The version of an open tally, which grows with every change of the votes in the window.
  window_changes integer NOT NULL DEFAULT 0,
  -- While a product with many upvotes is being removed, writes to it are refused until this time instead of waiting for its row
  -- lock. It is a time rather than a flag, so a command that is killed does not block writes for long.
  writes_blocked_until timestamptz
);

CREATE INDEX product_counts_top ON product_counts (upvotes DESC, product_id DESC);
CREATE INDEX product_counts_discussed ON product_counts (comments DESC, product_id DESC);

-- Upvotes ------------------------------------------------------------------------------------------------------------

CREATE TABLE upvotes (
  id uuid NOT NULL,
  product_id text COLLATE "C" NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  user_session text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The voter's network, hashed with the secret of the launch day (tally_secrets). Only votes in a launch window have it.
  network uuid,
  -- Whether a vote in a launch window counts: NULL counts, 'network' and 'operator' exclude it, and 'included' counts by the
  -- operator's decision.
  verdict text COLLATE "C" CHECK (verdict IN ('network', 'operator', 'included')),
  -- At most one upvote per product and session.
  PRIMARY KEY (product_id, user_session)
);

-- Finds the votes of a network for a product.
CREATE INDEX upvotes_network ON upvotes (product_id, network) WHERE network IS NOT NULL;

-- Networks from which unusually many sessions upvoted one product within an hour. `network` is a salted hash whose salt
-- is discarded after that hour. Counts below the threshold are never stored.
CREATE TABLE upvote_bursts (
  hour timestamptz(0) NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  sessions integer NOT NULL,
  PRIMARY KEY (hour, product_id, network)
);

-- Launches and leaderboards ------------------------------------------------------------------------------------------

-- The launch of each product and its places on the boards of its day, week, month and year. Boards read this ordered copy,
-- which follows product_counts.counted within a second. A launch in the future, or one whose time changed, is not placed
-- for its launched_at yet.
CREATE TABLE launches (
  product_id text COLLATE "C" PRIMARY KEY REFERENCES products (id) ON DELETE CASCADE,
  -- Begins the window of 24 hours. Equal to products.created_at until the day is final, and unchangeable afterwards.
  launched_at timestamptz(3) NOT NULL,
  placed_for timestamptz(3),
  day text COLLATE "C",
  week text COLLATE "C",
  month text COLLATE "C",
  year text COLLATE "C",
  votes integer NOT NULL DEFAULT 0,
  -- The order among equal votes: the first 128 bits of SHA-256(period + '/' + product_id).
  day_order uuid,
  week_order uuid,
  month_order uuid,
  year_order uuid,
  final boolean NOT NULL DEFAULT false
);

CREATE INDEX launches_day ON launches (day, (-votes), day_order) WHERE day IS NOT NULL;
CREATE INDEX launches_week ON launches (week, (-votes), week_order) WHERE week IS NOT NULL;
CREATE INDEX launches_month ON launches (month, (-votes), month_order) WHERE month IS NOT NULL;
CREATE INDEX launches_year ON launches (year, (-votes), year_order) WHERE year IS NOT NULL;
CREATE INDEX launches_launched_at ON launches (launched_at);
CREATE INDEX launches_to_place ON launches (launched_at) WHERE placed_for IS DISTINCT FROM launched_at;

-- The periods that have had a launch. A result is final once final_at is set; a later correction is a new revision.
CREATE TABLE leaderboards (
  -- A period such as 2026-11-21, 2026-W47, 2026-11 or 2026.
  period text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('day', 'week', 'month', 'year')),
  time_zone text NOT NULL,
  from_at timestamptz(3) NOT NULL,
  to_at timestamptz(3) NOT NULL,
  final_at timestamptz(3),
  revision integer NOT NULL DEFAULT 0,
  revised_at timestamptz(3),
  -- The digest of a final day: 'sha256:' and the SHA-256 of its tally in hexadecimal.
  digest text
);

CREATE INDEX leaderboards_newest ON leaderboards (kind, from_at DESC);
CREATE INDEX leaderboards_not_final ON leaderboards (to_at) WHERE final_at IS NULL;

-- The number of launches of a period with each number of votes, from which every rank follows without counting rows.
CREATE TABLE leaderboard_counts (
  period text COLLATE "C" NOT NULL,
  votes integer NOT NULL,
  products integer NOT NULL,
  PRIMARY KEY (period, votes)
);

-- Votes that were withdrawn after their launch window had ended: they count, and are deleted when the day is final.
CREATE TABLE retracted_upvotes (
  product_id text COLLATE "C" NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  user_session text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  network uuid,
  verdict text COLLATE "C",
  PRIMARY KEY (product_id, id)
);

-- The key under which the voters and networks of a day's launches are hashed. Deleted when the day is final, after which
-- the hashes can no longer be linked to sessions or addresses. Never part of a backup.
CREATE TABLE tally_secrets (
  day text COLLATE "C" PRIMARY KEY,
  secret bytea NOT NULL,
  created_at timestamptz(3) NOT NULL
);

-- Column statistics would keep copies of the secrets.
ALTER TABLE tally_secrets ALTER COLUMN secret SET STATISTICS 0;

-- The open tally of a final day, by product: JSON lines, compressed with gzip.
CREATE TABLE tally_parts (
  product_id text COLLATE "C" NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  part integer NOT NULL,
  day text COLLATE "C" NOT NULL,
  votes integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (product_id, part)
);

-- Comments -----------------------------------------------------------------------------------------------------------

CREATE TABLE comments (
  id uuid NOT NULL,
  product_id text COLLATE "C" NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  author_name text NOT NULL DEFAULT 'Anonymous',
  author_avatar text NOT NULL DEFAULT '/pictures/avatar-default.svg',
  author_badge text,
  content text NOT NULL,
  likes integer NOT NULL DEFAULT 0 CHECK (likes >= 0),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- A comment that looks like spam is held until the operator releases it, and only the session that wrote it sees it
  -- meanwhile. NULL for every other comment: the author's session is not stored.
  held_session text COLLATE "C",
  -- Set while the operator hides the comment from every list and count.
  hidden_at timestamptz(3),
  hidden_reason text,
  PRIMARY KEY (product_id, id)
);

-- Unique, so PostgreSQL expects one row per id before the table's first ANALYZE and never scans all comments for a like.
CREATE UNIQUE INDEX comments_id ON comments (id);
CREATE INDEX comments_best ON comments (product_id, likes DESC, created_at DESC, id DESC);
CREATE INDEX comments_newest ON comments (product_id, created_at DESC, id DESC);
-- The operator lists all comments, held comments and hidden comments of the site.
CREATE INDEX comments_recent ON comments (created_at DESC, id DESC);
CREATE INDEX comments_held ON comments (created_at DESC, id DESC) WHERE held_session IS NOT NULL;
CREATE INDEX comments_hidden ON comments (created_at DESC, id DESC) WHERE hidden_at IS NOT NULL;
-- Finds the held comments of an author.
CREATE INDEX comments_held_session ON comments (product_id, held_session, created_at DESC, id DESC)
  WHERE held_session IS NOT NULL;

-- The comment that was created for an idempotency key of a session. Keys expire after a day.
CREATE TABLE comment_idempotency_keys (
  user_session text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  comment_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (user_session, idempotency_key)
);

CREATE INDEX comment_idempotency_keys_age ON comment_idempotency_keys (created_at);

-- Submissions --------------------------------------------------------------------------------------------------------

-- Products that visitors submit for review. `id` is the id of the future product, reserved from the beginning. An approved
-- submission has a product, unless the operator removed it; whether that has launched follows from its time.
CREATE TABLE submissions (
  id text COLLATE "C" PRIMARY KEY,
  status text COLLATE "C" NOT NULL CHECK (status IN ('waiting', 'approved', 'declined', 'withdrawn')),
  -- Grows with each change. A decision names the revision it is about.
  revision integer NOT NULL DEFAULT 1,
  -- The fields as the maker wrote them, and as they were last approved.
  fields jsonb NOT NULL,
  approved_fields jsonb,
  -- NULL if the product is to launch as soon as the submission is approved.
  launch_at timestamptz(3),
  -- Why the submission was declined.
  reason text,
  -- What the last decision replaced, so it can be undone. NULL once the maker has changed the submission.
  undo jsonb,
  -- SHA-256 of each maker key.
  key_hashes bytea[] NOT NULL,
  -- The sender's network, hashed with the secret `submissions`. Only waiting submissions have it.
  network uuid,
  suspected_spam boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  -- When the submission last began to wait, which orders the queue.
  waiting_since timestamptz(3) NOT NULL,
  decided_at timestamptz(3)
);

CREATE INDEX submissions_newest ON submissions (created_at DESC, id DESC);
CREATE INDEX submissions_waiting ON submissions ((suspected_spam::integer), waiting_since, id) WHERE status = 'waiting';
CREATE INDEX submissions_network ON submissions (network) WHERE network IS NOT NULL;
-- Declined and withdrawn submissions are deleted some time after they were last changed.
CREATE INDEX submissions_closed ON submissions (updated_at) WHERE status IN ('declined', 'withdrawn');

-- The submission that was created for an idempotency key of a session. `id` is a digest of both. Keys expire after a day.
CREATE TABLE submission_idempotency_keys (
  id uuid PRIMARY KEY,
  -- A digest of what was sent. The same key with another submission is refused.
  content uuid NOT NULL,
  submission_id text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL
);

CREATE INDEX submission_idempotency_keys_age ON submission_idempotency_keys (created_at);

-- Random secrets of the site, which hide what is stored under them from the readers of a backup. Never part of a backup.
CREATE TABLE site_secrets (
  name text COLLATE "C" PRIMARY KEY,
  secret bytea NOT NULL
);

-- Column statistics would keep copies of the secrets.
ALTER TABLE site_secrets ALTER COLUMN secret SET STATISTICS 0;

-- Removed products ---------------------------------------------------------------------------------------------------

-- A removed product can be restored with its upvotes and comments. Its id may be reused and removed again meanwhile, so a
-- removal has its own key.
CREATE TABLE removed_products (
  removal_id uuid PRIMARY KEY,
  product_id text COLLATE "C" NOT NULL,
  -- Shared by all products of one command, which is undone as a whole.
  batch_id uuid NOT NULL,
  removed_at timestamptz(3) NOT NULL,
  upvotes integer NOT NULL,
  comments integer NOT NULL,
  -- The rows of products, product_counts and launches as JSON, with the columns of the time of the removal.
  product jsonb NOT NULL,
  counts jsonb NOT NULL,
  launch jsonb
);

CREATE INDEX removed_products_product ON removed_products (product_id, removed_at DESC);
CREATE INDEX removed_products_newest ON removed_products (removed_at DESC, batch_id);

CREATE TABLE removed_upvotes (
  removal_id uuid NOT NULL REFERENCES removed_products (removal_id) ON DELETE CASCADE,
  id uuid NOT NULL,
  user_session text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  network uuid,
  verdict text COLLATE "C",
  -- Whether the row belonged to retracted_upvotes.
  retracted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (removal_id, id)
);

CREATE TABLE removed_tally_parts (
  removal_id uuid NOT NULL REFERENCES removed_products (removal_id) ON DELETE CASCADE,
  part integer NOT NULL,
  day text COLLATE "C" NOT NULL,
  votes integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (removal_id, part)
);

CREATE TABLE removed_comments (
  removal_id uuid NOT NULL REFERENCES removed_products (removal_id) ON DELETE CASCADE,
  id uuid NOT NULL,
  -- The row of comments as JSON.
  comment jsonb NOT NULL,
  PRIMARY KEY (removal_id, id)
);

-- Operation ----------------------------------------------------------------------------------------------------------

-- The commands and console operations of operators. An entry is written in the transaction of its operation.
CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  created_at timestamptz(3) NOT NULL,
  -- The operator of the console, or the operating system user who ran the command.
  operator text NOT NULL,
  action text COLLATE "C" NOT NULL,
  -- What the operation was applied to: an id, or the name of a file.
  target text NOT NULL,
  details jsonb NOT NULL,
  -- The entry that this one reverted, if any.
  undoes uuid
);

CREATE INDEX audit_log_newest ON audit_log (created_at DESC, id DESC);
-- Lists the public moderation log.
CREATE INDEX audit_log_moderation ON audit_log (created_at DESC, id DESC)
  WHERE action IN ('products remove', 'comments hide', 'comments hold', 'votes exclude', 'submissions decline');
CREATE INDEX audit_log_target ON audit_log (target, created_at DESC);
CREATE INDEX audit_log_undoes ON audit_log (undoes) WHERE undoes IS NOT NULL;

-- What an import replaced, so it can be undone: for each product, its former fields as JSON (NULL if it was new) and the
-- version that the import wrote. Stored for a month, for imports of up to 20,000 products. Never part of a backup.
CREATE TABLE import_changes (
  import_id uuid NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  before jsonb,
  version text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (import_id, product_id)
);

-- Operators of the console. Like their sessions and invitations, they are not part of a backup: restoring an old one must not
-- give back access that was revoked.
CREATE TABLE operators (
  name text COLLATE "C" PRIMARY KEY,
  -- scrypt with its parameters and salt: 'scrypt$15$8$3$salt$hash'. NULL until the first invitation is accepted.
  passphrase text,
  created_at timestamptz(3) NOT NULL
);

-- One-time links that let an operator set a passphrase. Only the SHA-256 of each token is stored.
CREATE TABLE operator_invitations (
  token_hash bytea PRIMARY KEY,
  operator text COLLATE "C" NOT NULL REFERENCES operators (name) ON DELETE CASCADE,
  expires_at timestamptz(3) NOT NULL
);

CREATE TABLE operator_sessions (
  token_hash bytea PRIMARY KEY,
  operator text COLLATE "C" NOT NULL REFERENCES operators (name) ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL,
  -- Precise to the minute. A session expires after twelve hours without use.
  used_at timestamptz(3) NOT NULL
);

CREATE INDEX operator_sessions_operator ON operator_sessions (operator);

-- Browsers in which an operator has signed in before. Limits on guessing treat them separately.
CREATE TABLE operator_devices (
  token_hash bytea PRIMARY KEY,
  operator text COLLATE "C" NOT NULL REFERENCES operators (name) ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL
);

-- State of the site that outlives a process, such as whether the sample catalogue was already loaded.
CREATE TABLE site_metadata (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

-- Recent changes, for processes that cache responses: each process polls this table. A row is written in the transaction
-- that makes the change and is deleted several minutes later.
CREATE TABLE changes (
  id uuid PRIMARY KEY,
  product_ids text[] NOT NULL,
  -- Whether products were added, edited or removed, beyond their counts and comments.
  catalogue boolean NOT NULL,
  -- Comments that were written, released or liked.
  comment_ids uuid[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL
);

CREATE INDEX changes_created_at ON changes (created_at);

-- Events for the receiver of WEBHOOK_URL, written in the transaction that they report. Not part of a backup.
CREATE TABLE webhook_events (
  id uuid PRIMARY KEY,
  type text COLLATE "C" NOT NULL,
  -- The bytes that are sent, the same in each attempt.
  body text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  -- NULL after the event is delivered or expires.
  next_attempt_at timestamptz(3),
  attempts integer NOT NULL DEFAULT 0,
  last_failure text,
  delivered_at timestamptz(3)
);

CREATE INDEX webhook_events_due ON webhook_events (next_attempt_at, created_at, id) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_events_newest ON webhook_events (created_at DESC, id DESC);
CREATE INDEX webhook_events_undelivered ON webhook_events (created_at DESC, id DESC) WHERE delivered_at IS NULL;

-- How a receiver of webhooks responds. Not part of a backup.
CREATE TABLE webhook_receivers (
  -- SHA-256 of the URL, which may contain a secret.
  url_digest text COLLATE "C" PRIMARY KEY,
  last_success_at timestamptz(3),
  -- When the first failure since the last success occurred. NULL while attempts succeed.
  failing_since timestamptz(3),
  last_failure text,
  -- When the receiver responded 410 Gone. Nothing is sent to it after that.
  gone_at timestamptz(3)
);

-- Work that one process does for the whole site, such as the scheduled backup. The process that sets the row holds the
-- lease until it expires, and renews it while it works. Times are the database server's. Not part of a backup.
CREATE TABLE leases (
  name text COLLATE "C" PRIMARY KEY,
  -- Generated once per database. Marks what the work produces, such as file names, as belonging to this database.
  tag text COLLATE "C" NOT NULL,
  holder uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  -- When the last completed work began.
  completed_at timestamptz
);
