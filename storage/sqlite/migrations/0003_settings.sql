-- Settings: small documents that are replaced whole, by compare-and-set. revision is the
-- number of the write that made a row what it is; the counter has that of the last write,
-- deletions too, so that pollers read one row. Ids may be any bytes.
CREATE TABLE setting (
  kind       TEXT NOT NULL,
  id         BLOB NOT NULL,
  revision   INTEGER NOT NULL,
  changed_at INTEGER NOT NULL, -- ms since the epoch
  body       BLOB NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT;
CREATE INDEX setting_revision ON setting (kind, revision);
CREATE TABLE setting_counter (
  one      INTEGER PRIMARY KEY CHECK (one = 1),
  revision INTEGER NOT NULL
) STRICT;
INSERT INTO setting_counter VALUES (1, 0);
