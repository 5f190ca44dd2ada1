-- Work that one of a site's processes does for all of them, such as the scheduled backup. Whoever sets the row first has the
-- work, until a moment that it moves on while it works: what a killed process had is free again after that. Times are the
-- database's own. Not part of a backup: it belongs to the processes and not to the site.

CREATE TABLE leases (
  name text COLLATE "C" PRIMARY KEY,
  -- Made up once; marks what the work brings forth, such as the names of files, as that of this database.
  tag text COLLATE "C" NOT NULL,
  holder uuid NOT NULL,
  held_until timestamptz NOT NULL,
  -- When the last work began that was brought to its end.
  done_at timestamptz
);
