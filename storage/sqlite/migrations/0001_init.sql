-- One row a session of an app. An app cannot touch another app's session.
CREATE TABLE session (
  key        INTEGER PRIMARY KEY,
  app_id     TEXT NOT NULL,
  id         BLOB NOT NULL CHECK (length(id) = 16),
  user_id    TEXT NOT NULL,
  user_alias TEXT NOT NULL,
  details    TEXT NOT NULL, -- JSON object of strings
  UNIQUE (app_id, id)
) STRICT;

-- One row an (AppID, conferenceID), whatever number of conferences were held under it.
CREATE TABLE place (
  key           INTEGER PRIMARY KEY,
  app_id        TEXT NOT NULL,
  conference_id TEXT NOT NULL,
  UNIQUE (app_id, conference_id)
) STRICT;

-- One row a frame: the records idx to idx+n-1 of frame seq, which share all columns. A
-- frame whose records differ in a column, or that came in parts, has several rows; they
-- never overlap. A frame belongs to a conference by place and time alone, so that a
-- merge of conferences rewrites none. Times are ms since the epoch. Rows are about 1 kB
-- and stand in order of arrival: in a table without rowid they would stand in the inner
-- nodes of its tree too, four to a page, and writing 150,000 of them took 2.6 times as
-- long (BenchmarkAppendStatsFrames).
CREATE TABLE frame (
  session       INTEGER NOT NULL REFERENCES session (key),
  seq           INTEGER NOT NULL,
  idx           INTEGER NOT NULL,
  n             INTEGER NOT NULL,
  place         INTEGER NOT NULL,
  activity      INTEGER NOT NULL, -- 1: at finds the conference; 0, an annotation: conference_at does
  at            INTEGER NOT NULL,
  conference_at INTEGER NOT NULL,
  observed_at   INTEGER NOT NULL,
  fabric        INTEGER NOT NULL,
  body          BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX frame_identity ON frame (session, seq, idx);
CREATE INDEX frame_activity ON frame (place, at) WHERE activity;
CREATE INDEX frame_other ON frame (place, conference_at) WHERE NOT activity;

-- One row a conference. The rows of a place lie more than the gap apart.
CREATE TABLE conference (
  key           INTEGER PRIMARY KEY,
  place         INTEGER NOT NULL REFERENCES place (key),
  app_id        TEXT NOT NULL,
  start_ms      INTEGER NOT NULL,
  end_ms        INTEGER NOT NULL,
  revision      INTEGER, -- the summary's; the columns below are NULL without one
  summary_start INTEGER,
  summary_end   INTEGER,
  outcome       TEXT,
  participants  INTEGER,
  mos           REAL,
  label         TEXT,
  cause         TEXT,
  digest        BLOB,
  terms_dropped INTEGER NOT NULL DEFAULT 0, -- search terms beyond the most that are kept
  -- 1: no loose activity is left that can be packed.
  packed        INTEGER NOT NULL DEFAULT 0,
  -- Computed, so that no writer can forget them: without a summary of just its span, and
  -- longer than a day.
  open          INTEGER GENERATED ALWAYS AS (revision IS NULL OR summary_start <> start_ms OR summary_end <> end_ms) VIRTUAL,
  long          INTEGER GENERATED ALWAYS AS (end_ms - start_ms > 86400000) VIRTUAL,
  -- Twice the score, rounded up, in 1 to 10: scores of a range are in a few bands, each in order of start.
  mos_band      INTEGER GENERATED ALWAYS AS (10 - CAST((5 - min(max(mos, 0.5), 5.0)) * 2 AS INTEGER)) VIRTUAL
) STRICT;
CREATE INDEX conference_place ON conference (place, start_ms);
CREATE INDEX conference_start ON conference (start_ms);
CREATE INDEX conference_app ON conference (app_id, start_ms);
CREATE INDEX conference_end ON conference (end_ms);

-- The document of a conference's summary. Lists and digests do not read it, and it is ten times as long as a row of
-- conference: beside it they would read a page a row, here they read a page for seven rows.
CREATE TABLE document (
  conference INTEGER PRIMARY KEY REFERENCES conference (key),
  body       BLOB NOT NULL
) STRICT;

-- Hours: the facts of the conferences that started in an hour, in columns (internal/call/digest), for pages about days. A row is
-- inserted some time after its hour ended, first without a body. Triggers delete it with every change of a conference of the
-- hour, so that no statement can leave it out of date. The mark distinguishes a row from one that was inserted later. The
-- body is empty if the hour has too many conferences.
CREATE TABLE hour (
  start_ms INTEGER PRIMARY KEY, -- a multiple of 3,600,000
  mark     INTEGER NOT NULL,
  body     BLOB
) STRICT;
CREATE TRIGGER hour_insert AFTER INSERT ON conference BEGIN
  DELETE FROM hour WHERE start_ms = new.start_ms - new.start_ms % 3600000;
END;
CREATE TRIGGER hour_update AFTER UPDATE OF start_ms, digest ON conference WHEN old.start_ms <> new.start_ms OR old.digest IS NOT new.digest BEGIN
  DELETE FROM hour WHERE start_ms IN (old.start_ms - old.start_ms % 3600000, new.start_ms - new.start_ms % 3600000);
END;
CREATE TRIGGER hour_delete AFTER DELETE ON conference BEGIN
  DELETE FROM hour WHERE start_ms = old.start_ms - old.start_ms % 3600000;
END;

CREATE TABLE participant (
  conference INTEGER NOT NULL REFERENCES conference (key),
  session    INTEGER NOT NULL REFERENCES session (key),
  PRIMARY KEY (conference, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX participant_session ON participant (session);

-- Annotations that no conference owns, one row a session and a time: nearly none. Their
-- records are in frame.
CREATE TABLE unattached (
  key           INTEGER PRIMARY KEY,
  place         INTEGER NOT NULL REFERENCES place (key),
  app_id        TEXT NOT NULL,
  conference_at INTEGER NOT NULL,
  session       INTEGER NOT NULL REFERENCES session (key),
  UNIQUE (place, conference_at, session)
) STRICT;
CREATE INDEX unattached_at ON unattached (conference_at);
CREATE INDEX unattached_app ON unattached (app_id, conference_at);
CREATE INDEX unattached_session ON unattached (session);

-- Records of activity of closed conferences, packed by column (storage/internal/chunk).
-- A chunk holds records of one place, at the times from_ms to to_ms, and never changes; all
-- of them are of one conference, for spans only grow or merge. Chunks are listed by an
-- index alone, so that their bodies are read only when their time comes; a key is never
-- used again, for a reader may still hold it.
CREATE TABLE chunk (
  key     INTEGER PRIMARY KEY AUTOINCREMENT,
  place   INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  to_ms   INTEGER NOT NULL,
  records INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT;
CREATE INDEX chunk_place ON chunk (place, from_ms, to_ms);

-- What of the frames of a session is in chunks: of every seq in first..last, the records
-- idx to idx+n-1. So a late duplicate is known without decoding a chunk. A range is not
-- longer than a chunk has records, which bounds the search for a seq.
CREATE TABLE packed (
  session INTEGER NOT NULL REFERENCES session (key),
  first   INTEGER NOT NULL,
  idx     INTEGER NOT NULL,
  last    INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  chunk   INTEGER NOT NULL REFERENCES chunk (key),
  PRIMARY KEY (session, first, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX packed_chunk ON packed (chunk);

-- By start_ms, which hardly ever changes: end_ms does with every commit of a live call.
CREATE INDEX conference_loose ON conference (start_ms, key) WHERE NOT packed;

-- Search. States that hardly any conference has, open and long, have an index of their own.
-- Rare outcomes are found without reading the frequent one. An index of start_ms has the key too.
CREATE INDEX place_conference ON place (conference_id);
CREATE INDEX conference_outcome ON conference (outcome, start_ms) WHERE outcome IS NOT NULL;
CREATE INDEX conference_app_outcome ON conference (app_id, outcome, start_ms) WHERE outcome IS NOT NULL;
CREATE INDEX conference_open ON conference (start_ms) WHERE open;
CREATE INDEX conference_app_open ON conference (app_id, start_ms) WHERE open;
CREATE INDEX conference_long ON conference (start_ms) WHERE long;

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

-- Terms: what a conference is found by beside its conferenceID, as numbers that package
-- storage/internal/term makes of values. They stand at the start of the conference, so that
-- a search reads the newest first and stops when its page is full; the other index is for
-- what else a search asks of a conference that it has found, and for changes.
CREATE TABLE term (
  term       INTEGER NOT NULL,
  start_ms   INTEGER NOT NULL, -- the conference's
  conference INTEGER NOT NULL REFERENCES conference (key),
  recorded   INTEGER NOT NULL, -- 1: a record of activity says it; 0: the session of one who takes part does
  PRIMARY KEY (term, start_ms, conference)
) STRICT, WITHOUT ROWID;
CREATE INDEX term_conference ON term (conference, term);

CREATE INDEX conference_label ON conference (label, start_ms) WHERE label <> '';
CREATE INDEX conference_app_label ON conference (app_id, label, start_ms) WHERE label <> '';
CREATE INDEX conference_cause ON conference (cause, start_ms) WHERE cause <> '';
CREATE INDEX conference_app_cause ON conference (app_id, cause, start_ms) WHERE cause <> '';
CREATE INDEX conference_band ON conference (mos_band, start_ms, key, mos) WHERE mos_band IS NOT NULL;
CREATE INDEX conference_app_band ON conference (app_id, mos_band, start_ms, key, mos) WHERE mos_band IS NOT NULL;

-- Renames: what reportUserIDChange called the user of a session in one conference, the newest
-- few of each participant. The one with the highest (seq, idx) is in force.
CREATE TABLE rename (
  conference INTEGER NOT NULL REFERENCES conference (key),
  session    INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  idx        INTEGER NOT NULL,
  user_id    TEXT NOT NULL,
  user_alias TEXT NOT NULL,
  PRIMARY KEY (conference, session, seq, idx)
) STRICT, WITHOUT ROWID;


-- Pre-call tests, which belong to no conference: one row a test, with the description of its session at that time.
CREATE TABLE precall (
  key         INTEGER PRIMARY KEY,
  app_id      TEXT NOT NULL,
  session     BLOB NOT NULL CHECK (length(session) = 16),
  seq         INTEGER NOT NULL,
  idx         INTEGER NOT NULL,
  at          INTEGER NOT NULL, -- ms since the epoch
  observed_at INTEGER NOT NULL,
  status      TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  user_alias  TEXT NOT NULL,
  details     TEXT NOT NULL, -- JSON object of strings
  body        BLOB NOT NULL, -- the result as JSON
  UNIQUE (app_id, session, seq, idx)
) STRICT;
CREATE INDEX precall_at ON precall (at);
CREATE INDEX precall_app ON precall (app_id, at);
CREATE INDEX precall_status ON precall (app_id, status, at);

-- What a test is found by: terms of its session, and of the providers that it tested.
CREATE TABLE precall_term (
  term    INTEGER NOT NULL,
  at      INTEGER NOT NULL, -- of the test
  precall INTEGER NOT NULL REFERENCES precall (key),
  PRIMARY KEY (term, at, precall)
) STRICT, WITHOUT ROWID;
CREATE INDEX precall_term_precall ON precall_term (precall);

-- Points: the part of a conference or of a feedback that windows of webhooks count, once each.
-- Only apps with webhooks have them, and they are kept for about a day. Keys are never used again.
CREATE TABLE point (
  key           INTEGER PRIMARY KEY AUTOINCREMENT,
  identity      BLOB NOT NULL, -- SHA-256 of the three ids
  app_id        TEXT NOT NULL,
  conference_id TEXT NOT NULL,
  id            TEXT NOT NULL, -- of a feedback; empty: the conference
  start_ms      INTEGER NOT NULL,
  end_ms        INTEGER NOT NULL,
  recorded_at   INTEGER NOT NULL, -- ms since the epoch
  body          BLOB NOT NULL
) STRICT;
CREATE INDEX point_identity ON point (identity, start_ms);
CREATE INDEX point_recorded ON point (recorded_at);

-- Notices: notifications to webhooks and their deliveries. state 0 is pending, 1 delivered, 2 dead.
CREATE TABLE notice (
  key          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  app_id       TEXT NOT NULL,
  hook         TEXT NOT NULL,
  state        INTEGER NOT NULL,
  created_at   INTEGER NOT NULL, -- ms since the epoch, as all times here
  due_at       INTEGER NOT NULL,
  attempts     INTEGER NOT NULL,
  attempted_at INTEGER NOT NULL, -- 0: never
  latency_ms   INTEGER NOT NULL,
  status       INTEGER NOT NULL,
  error        TEXT NOT NULL,
  body         BLOB NOT NULL
) STRICT;
CREATE INDEX notice_due ON notice (app_id, hook, due_at, key) WHERE state = 0;
CREATE INDEX notice_app ON notice (app_id, key);
CREATE INDEX notice_created ON notice (created_at) WHERE state <> 0;

-- Logins: sessions of users of the dashboard, from sign-in to sign-out. Users are settings.
CREATE TABLE login (
  id         BLOB PRIMARY KEY, -- SHA-256 of the token that the browser has
  user_name  TEXT NOT NULL,
  generation INTEGER NOT NULL, -- of the user when they signed in
  method     TEXT NOT NULL,
  created_at INTEGER NOT NULL, -- ms since the epoch
  seen_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX login_user ON login (user_name, seen_at);
CREATE INDEX login_created ON login (created_at);
CREATE INDEX login_seen ON login (seen_at);

-- Audit entries: sign-ins, reads of conferences, changes of settings. Keys are never used again.
CREATE TABLE audit (
  key    INTEGER PRIMARY KEY AUTOINCREMENT,
  at     INTEGER NOT NULL, -- ms since the epoch
  actor  TEXT NOT NULL,
  action TEXT NOT NULL,
  app_id TEXT NOT NULL,
  target TEXT NOT NULL,
  body   BLOB NOT NULL
) STRICT;
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_actor ON audit (actor, key);
CREATE INDEX audit_app ON audit (app_id, key) WHERE app_id <> '';
