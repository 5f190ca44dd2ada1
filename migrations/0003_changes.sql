-- What was changed lately, for processes that keep answers in memory: each polls it. A row is written in the transaction
-- that makes the change, and removed some minutes later. Only the time is indexed: nothing else is asked for.

CREATE TABLE changes (
  id uuid PRIMARY KEY,
  product_ids text[] NOT NULL,
  -- Whether products were added, edited or removed, beyond their counts and comments.
  catalogue boolean NOT NULL,
  noted_at timestamptz NOT NULL
);

CREATE INDEX changes_noted ON changes (noted_at);
