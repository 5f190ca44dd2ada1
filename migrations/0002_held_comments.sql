-- A comment that looked like spam is kept and held back until the operator releases it. The session that wrote it is kept
-- for as long, since its author alone sees it; for all other comments the column is NULL and nobody knows who wrote them.

ALTER TABLE comments ADD COLUMN held_for text COLLATE "C";

-- Few rows, for the two questions about them: what is there for the operator, and what is there for this author.
CREATE INDEX comments_held ON comments (created_at DESC, id DESC) WHERE held_for IS NOT NULL;
CREATE INDEX comments_held_for ON comments (product_id, held_for, created_at DESC, id DESC) WHERE held_for IS NOT NULL;
