-- Settings: small documents that are replaced whole, by compare-and-set. revision is the
-- number of the write that made a row what it is; the counter has that of the last write,
-- deletions too, so that pollers read one row. Each write locks the counter until its
-- commit: revisions become visible in their order, and no poller can miss one. Settings
-- change seldom. Pages of the counter keep room, so that its changes stay on one.
CREATE TABLE qos_setting (
  kind       bytea NOT NULL,
  id         bytea NOT NULL,
  revision   bigint NOT NULL,
  changed_at bigint NOT NULL, -- ms since the epoch
  body       bytea NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX qos_setting_revision ON qos_setting (kind, revision);
CREATE TABLE qos_setting_counter (
  one      integer PRIMARY KEY CHECK (one = 1),
  revision bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO qos_setting_counter VALUES (1, 0);
