-- Which comments were written, released or liked, so that every process can tell its open pages about just these.

ALTER TABLE changes ADD COLUMN comment_ids uuid[] NOT NULL DEFAULT '{}';
