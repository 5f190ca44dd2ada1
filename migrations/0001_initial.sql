-- The schema of a Groundswell site: content, visitors' actions, moderation, audit log, and state shared by processes.
--
-- The application generates all keys. The keys of tables that can be distributed start with the product id. There are
-- no triggers, sequences or generated columns, so distributed engines accept this file unchanged.
-- Ids are compared bytewise (COLLATE "C"), so the order of a list does not depend on the server's locale.
-- Times by which lists are sorted have millisecond precision, like the JSON of the API, so keyset cursors are exact.

-- Products -----------------------------------------------------------------------------------------------------------

CREATE TABLE products (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL DEFAULT 'Untitled Product',
  description text NOT NULL DEFAULT 'No description available',
  image text NOT NULL DEFAULT '/pictures/placeholder.svg',
  tags text[] NOT NULL DEFAULT '{}',
  category text NOT NULL DEFAULT 'Uncategorized',
  maker text NOT NULL DEFAULT 'Unknown Maker',
  -- The launch date as pages show it, such as "Today". Lists are sorted by created_at instead.
  launch_date text NOT NULL DEFAULT 'Today',
  -- [{"name": …, "role": …, "avatar": …}]
  team jsonb NOT NULL DEFAULT '[]',
  screenshots text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Name and description (search_text) and tags (tag_keys), case-folded by the application like search terms.
  search_text text NOT NULL DEFAULT '',
  tag_keys text[] NOT NULL DEFAULT '{}',
  -- The uncommon characters and pairs of characters of search_text, as numbers. Searches that the trigram index does
  -- not support use them.
  search_grams integer[] NOT NULL DEFAULT '{}'
);

CREATE INDEX products_newest ON products (created_at DESC, id DESC);
CREATE INDEX products_tags ON products USING gin (tag_keys);
CREATE INDEX products_grams ON products USING gin (search_grams);
-- For the operator's lists of products by name and by category. search_text begins with the name.
CREATE INDEX products_name ON products ((left(search_text, 48)) COLLATE "C", id);
CREATE INDEX products_category ON products ((lower(category)) COLLATE "C", created_at DESC, id DESC);
-- The trigram index for searches, products_search, is created separately: it needs an extension that some servers lack.

-- The numbers of upvotes and public comments per product, updated in the transaction that writes those rows.
CREATE TABLE product_counts (
  product_id text COLLATE "C" PRIMARY KEY REFERENCES products (id) ON DELETE CASCADE,
  upvotes integer NOT NULL DEFAULT 0 CHECK (upvotes >= 0),
  comments integer NOT NULL DEFAULT 0 CHECK (comments >= 0),
  -- The start of the launch window; earlier upvotes are refused. Equal to launches.launched_at once the launch is on
  -- its boards, and '-infinity' soon after its result is final. Stored here, so a vote reads and locks only one row.
  window_from timestamptz(3) NOT NULL DEFAULT '-infinity',
  -- Numbers of votes cast in the window: votes that count on leaderboards, and votes that do not, by reason.
  counted integer NOT NULL DEFAULT 0 CHECK (counted >= 0),
  excluded_network integer NOT NULL DEFAULT 0 CHECK (excluded_network >= 0),
  excluded_operator integer NOT NULL DEFAULT 0 CHECK (excluded_operator >= 0),
  -- The version of the open tally, incremented with every change to the votes in the window.
  window_changes integer NOT NULL DEFAULT 0,
  -- Whether vote_decisions may have rows of the product. Stored here, so votes for products without decisions are
  -- written without reading that table.
  has_decisions boolean NOT NULL DEFAULT false,
  -- While a product with many upvotes is being removed, writes to it are refused until this time, so they do not wait
  -- for the row lock. A time instead of a flag, so a killed command does not block writes for long.
  writes_blocked_until timestamptz,
  -- Likewise while an operator excludes or includes votes of a large launch. Visitors are then asked to try again.
  writes_paused_until timestamptz
);

CREATE INDEX product_counts_top ON product_counts (upvotes DESC, product_id DESC);
CREATE INDEX product_counts_discussed ON product_counts (comments DESC, product_id DESC);

-- Upvotes ------------------------------------------------------------------------------------------------------------

CREATE TABLE upvotes (
  id uuid NOT NULL,
  product_id text COLLATE "C" NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  user_session text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The voter's network, hashed with the secret of the launch day (tally_secrets). NULL outside a launch window, or if
  -- the address is unknown.
  network uuid,
  -- Whether a vote in a launch window counts on leaderboards: yes if NULL, or 'included' (by the operator); no if
  -- 'network' (beyond the cap per network) or 'operator'.
  verdict text COLLATE "C" CHECK (verdict IN ('network', 'operator', 'included')),
  -- At most one upvote per product and session.
  PRIMARY KEY (product_id, user_session)
);

-- Finds the votes of a network for a product.
CREATE INDEX upvotes_network ON upvotes (product_id, network) WHERE network IS NOT NULL;

-- Networks from which unusually many sessions upvoted one product within a clock hour. `network` is a salted hash
-- whose salt is discarded after that hour. Counts below the threshold are never stored.
CREATE TABLE upvote_bursts (
  hour timestamptz(0) NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  sessions integer NOT NULL,
  PRIMARY KEY (hour, product_id, network)
);

-- Launches and leaderboards ------------------------------------------------------------------------------------------

-- The launch of each product and its places on the boards of its day, week, month and year. Boards are read from this
-- table, because its indexes have the order of the boards; `votes` follows product_counts.counted within a second.
-- `placed_for` is the `launched_at` for which the places were determined, or NULL while the launch is on no board.
CREATE TABLE launches (
  product_id text COLLATE "C" PRIMARY KEY REFERENCES products (id) ON DELETE CASCADE,
  -- The start of the launch window of 24 hours. Follows products.created_at, except that a launch never leaves a final
  -- day, and a launch with votes never moves to a day that is final or due, unless it was postponed first.
  launched_at timestamptz(3) NOT NULL,
  placed_for timestamptz(3),
  day text COLLATE "C",
  week text COLLATE "C",
  month text COLLATE "C",
  year text COLLATE "C",
  votes integer NOT NULL DEFAULT 0,
  -- The tie-breaker for equal votes: the first 128 bits of SHA-256(period + '/' + product_id).
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

-- The periods that have had a launch. A result is final when final_at is set; later corrections are new revisions.
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
  digest text,
  -- The VOTES_PER_NETWORK with which a day became final.
  votes_per_network integer
);

CREATE INDEX leaderboards_newest ON leaderboards (kind, from_at DESC, period DESC);
CREATE INDEX leaderboards_not_final ON leaderboards (to_at) WHERE final_at IS NULL;

-- For each period, how many launches have each number of votes. Ranks are computed from these rows without counting the
-- launches.
CREATE TABLE leaderboard_counts (
  period text COLLATE "C" NOT NULL,
  votes integer NOT NULL,
  products integer NOT NULL,
  PRIMARY KEY (period, votes)
);

-- Votes withdrawn after the end of their launch window, which still count. The rows are deleted when the day is final.
CREATE TABLE retracted_upvotes (
  product_id text COLLATE "C" NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  user_session text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  network uuid,
  verdict text COLLATE "C",
  PRIMARY KEY (product_id, id)
);

-- The operator's decisions to exclude or include votes, which also apply if a session withdraws its vote and votes
-- again. The rows are deleted when the day is final.
CREATE TABLE vote_decisions (
  product_id text COLLATE "C" NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  user_session text COLLATE "C" NOT NULL,
  verdict text COLLATE "C" NOT NULL CHECK (verdict IN ('operator', 'included')),
  -- The id, time and network of an excluded vote, copied from upvotes, because the vote keeps its position within the
  -- cap of its network even if it is withdrawn. NULL if the vote had no network.
  vote_id uuid,
  created_at timestamptz(3),
  network uuid,
  PRIMARY KEY (product_id, user_session)
);

CREATE INDEX vote_decisions_network ON vote_decisions (product_id, network) WHERE network IS NOT NULL;

-- The secret keys for hashing the voters and networks of a day's launches. Deleted when the day is final: from then on,
-- the hashes cannot be linked to sessions or addresses. Never part of a backup.
CREATE TABLE tally_secrets (
  day text COLLATE "C" PRIMARY KEY,
  secret bytea NOT NULL,
  created_at timestamptz(3) NOT NULL
);

-- Column statistics would keep copies of the secrets.
ALTER TABLE tally_secrets ALTER COLUMN secret SET STATISTICS 0;

-- The public tallies of final days, by product: JSON Lines, compressed with gzip.
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
  -- The author's session if the comment is held as suspected spam, or '' if an operator held it. Until an operator
  -- releases the comment, only this session sees it. NULL for other comments, whose authors' sessions are not stored.
  held_session text COLLATE "C",
  -- Set while the comment is hidden by the operator. Hidden comments are excluded from all public lists and counts.
  hidden_at timestamptz(3),
  hidden_reason text,
  PRIMARY KEY (product_id, id)
);

-- Unique, so the planner expects one row per id even before the first ANALYZE, and a like never scans all comments.
CREATE UNIQUE INDEX comments_id ON comments (id);
-- For the public lists, which then do not read the held spam of a product.
CREATE INDEX comments_best ON comments (product_id, likes DESC, created_at DESC, id DESC)
  WHERE held_session IS NULL AND hidden_at IS NULL;
CREATE INDEX comments_newest ON comments (product_id, created_at DESC, id DESC)
  WHERE held_session IS NULL AND hidden_at IS NULL;
-- For the operator's lists of a product's comments, together with comments_newest.
CREATE INDEX comments_not_public ON comments (product_id, created_at DESC, id DESC)
  WHERE held_session IS NOT NULL OR hidden_at IS NOT NULL;
-- For the operator's lists of all comments, held comments and hidden comments.
CREATE INDEX comments_recent ON comments (created_at DESC, id DESC);
CREATE INDEX comments_held ON comments (created_at DESC, id DESC) WHERE held_session IS NOT NULL;
CREATE INDEX comments_hidden ON comments (created_at DESC, id DESC) WHERE hidden_at IS NOT NULL;
-- Finds the held comments of an author.
CREATE INDEX comments_held_session ON comments (product_id, held_session, created_at DESC, id DESC)
  WHERE held_session IS NOT NULL;

-- The comment created for an idempotency key of a session. Keys expire after a day.
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

-- Products that visitors submit for review. `id` is reserved as the id of the future product. An approved submission
-- has a product, unless the operator removed it; the product has launched if its launch time has passed.
CREATE TABLE submissions (
  id text COLLATE "C" PRIMARY KEY,
  status text COLLATE "C" NOT NULL CHECK (status IN ('waiting', 'approved', 'declined', 'withdrawn')),
  -- Incremented with each change. A decision applies to the revision that the operator read.
  revision integer NOT NULL DEFAULT 1,
  -- The fields as last edited, and as last approved.
  fields jsonb NOT NULL,
  approved_fields jsonb,
  -- NULL if the product launches when the submission is approved.
  launch_at timestamptz(3),
  -- The reason why the submission was declined.
  reason text,
  -- The state before the last decision, for undoing the decision. NULL if there is none, if it was undone, or if the
  -- maker has since changed fields or withdrawn the submission.
  undo jsonb,
  -- The SHA-256 hashes of the maker keys.
  key_hashes bytea[] NOT NULL,
  -- The submitter's network, hashed with the secret 'submissions' of site_secrets, while the submission is waiting.
  network uuid,
  suspected_spam boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  -- When the maker last sent the submission to the review queue. The queue lists the oldest submissions first, and
  -- suspected spam last.
  waiting_since timestamptz(3) NOT NULL,
  decided_at timestamptz(3)
);

CREATE INDEX submissions_newest ON submissions (created_at DESC, id DESC);
CREATE INDEX submissions_waiting ON submissions ((suspected_spam::integer), waiting_since, id) WHERE status = 'waiting';
CREATE INDEX submissions_network ON submissions (network) WHERE network IS NOT NULL;
-- For deleting declined and withdrawn submissions a certain time after their last change.
CREATE INDEX submissions_closed ON submissions (updated_at) WHERE status IN ('declined', 'withdrawn');

-- The submission created for an idempotency key of a session. `id` is a digest of both. Keys expire after a day.
CREATE TABLE submission_idempotency_keys (
  id uuid PRIMARY KEY,
  -- A digest of the request's content. The same key with different content is refused.
  content uuid NOT NULL,
  submission_id text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL
);

CREATE INDEX submission_idempotency_keys_age ON submission_idempotency_keys (created_at);

-- Random secret keys of the site. Never part of a backup, so the hashes in a backup cannot be reversed by guessing.
CREATE TABLE site_secrets (
  name text COLLATE "C" PRIMARY KEY,
  secret bytea NOT NULL
);

-- Column statistics would keep copies of the secrets.
ALTER TABLE site_secrets ALTER COLUMN secret SET STATISTICS 0;

-- Removed products ---------------------------------------------------------------------------------------------------

-- A removed product can be restored with its upvotes and comments. Each removal has its own key, because another
-- product with the same id may be created and removed in the meantime.
CREATE TABLE removed_products (
  removal_id uuid PRIMARY KEY,
  product_id text COLLATE "C" NOT NULL,
  -- Shared by all products that one command removed. `products undo` restores them together.
  batch_id uuid NOT NULL,
  removed_at timestamptz(3) NOT NULL,
  upvotes integer NOT NULL,
  comments integer NOT NULL,
  -- The rows of products, product_counts and launches as JSON, with the columns that existed at the removal.
  product jsonb NOT NULL,
  counts jsonb NOT NULL,
  launch jsonb,
  -- The rows of vote_decisions as JSON, if any.
  decisions jsonb
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
  -- Whether the row is from retracted_upvotes instead of upvotes.
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

-- Operations of commands and of the console. The entry of a change is written in the transaction of the change.
CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  created_at timestamptz(3) NOT NULL,
  -- The name of the operator who used the console, or of the operating system user who ran the command.
  operator text NOT NULL,
  action text COLLATE "C" NOT NULL,
  -- The object of the operation, such as a product id or a file name.
  target text NOT NULL,
  details jsonb NOT NULL,
  -- The id of the entry that this one undoes, if any.
  undoes uuid
);

CREATE INDEX audit_log_newest ON audit_log (created_at DESC, id DESC);
-- For the public moderation log.
CREATE INDEX audit_log_moderation ON audit_log (created_at DESC, id DESC)
  WHERE action IN ('products remove', 'products postpone', 'comments hide', 'comments hold', 'votes exclude',
    'votes include', 'submissions decline', 'submissions undo', 'sample remove');
-- Finds the last backup without scanning the log, which may contain only an old backup or none.
CREATE INDEX audit_log_backups ON audit_log (created_at DESC) WHERE action = 'backup';
CREATE INDEX audit_log_target ON audit_log (target, created_at DESC);
CREATE INDEX audit_log_undoes ON audit_log (undoes) WHERE undoes IS NOT NULL;

-- The data for undoing imports: for each product, its former fields as JSON (NULL if it was new) and the version that
-- the import wrote. Stored for 30 days if the import changed at most 20,000 products. Never part of a backup.
CREATE TABLE import_changes (
  import_id uuid NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  before jsonb,
  version text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (import_id, product_id)
);

-- Operators of the console. Operators, their sessions and their invitations are not part of a backup, because restoring
-- an old backup must not restore access that was revoked.
CREATE TABLE operators (
  name text COLLATE "C" PRIMARY KEY,
  -- An scrypt hash with its parameters: 'scrypt$15$8$3$salt$hash'. NULL until the first invitation is accepted.
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
  -- The time of the last use, updated at most once a minute. A session expires after twelve hours without use,
  -- and 30 days after sign-in in any case.
  used_at timestamptz(3) NOT NULL
);

CREATE INDEX operator_sessions_operator ON operator_sessions (operator);

-- Browsers in which an operator has signed in before. The limits on failed sign-ins treat them separately.
CREATE TABLE operator_devices (
  token_hash bytea PRIMARY KEY,
  operator text COLLATE "C" NOT NULL REFERENCES operators (name) ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL
);

-- Persistent state of the site, such as whether the sample catalogue has been loaded.
CREATE TABLE site_metadata (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

-- Recent changes, for processes that cache responses: each process polls this table. Upvotes, comments and likes are
-- recorded soon after their commits, most other changes in their transactions. Rows are deleted after ten minutes.
CREATE TABLE changes (
  id uuid PRIMARY KEY,
  product_ids text[] NOT NULL,
  -- Whether products were added, edited or removed, or leaderboards changed other than by new votes.
  catalogue boolean NOT NULL,
  -- The ids of comments that were created, moderated or liked.
  comment_ids uuid[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL
);

CREATE INDEX changes_created_at ON changes (created_at);

-- Events to be sent to WEBHOOK_URL. Each is written in the transaction of the change that it reports. Not part of a
-- backup.
CREATE TABLE webhook_events (
  id uuid PRIMARY KEY,
  type text COLLATE "C" NOT NULL,
  -- The request body, which is the same in each attempt.
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

-- Receivers of webhooks to which a delivery has failed. Not part of a backup.
CREATE TABLE webhook_receivers (
  -- SHA-256 of the URL and its user and password.
  url_digest text COLLATE "C" PRIMARY KEY,
  -- The time of the first failure since the last success. NULL while attempts succeed.
  failing_since timestamptz(3),
  last_failure text,
  -- When the receiver responded with 410 Gone. While this is set, no events are sent to it.
  gone_at timestamptz(3)
);

-- Leases for jobs that one process runs for the whole site, such as the scheduled backup. A process acquires a lease by
-- writing its row, and renews it while the job runs. Times are from the database server. Not part of a backup.
CREATE TABLE leases (
  name text COLLATE "C" PRIMARY KEY,
  -- A random tag, generated with the row. It identifies this database in the names of the job's files.
  tag text COLLATE "C" NOT NULL,
  holder uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  -- When the last completed run of the job began.
  last_run_at timestamptz
);
