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
  activity      INTEGER NOT NULL, -- 1: at finds the conference, 0: conference_at does
  at            INTEGER NOT NULL,
  conference_at INTEGER NOT NULL,
  observed_at   INTEGER NOT NULL,
  fabric        INTEGER NOT NULL,
  body          BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX frame_identity ON frame (session, seq, idx);
CREATE INDEX frame_activity ON frame (place, at) WHERE activity = 1;
CREATE INDEX frame_other ON frame (place, conference_at) WHERE activity = 0;

-- One row a conference. The rows of a place lie more than the gap apart. A row without
-- activity holds records that are not activity, or a summary, until activity comes near.
CREATE TABLE conference (
  key           INTEGER PRIMARY KEY,
  place         INTEGER NOT NULL REFERENCES place (key),
  app_id        TEXT NOT NULL,
  start_ms      INTEGER NOT NULL,
  end_ms        INTEGER NOT NULL,
  activity      INTEGER NOT NULL,
  revision      INTEGER, -- the summary's; the columns below are NULL without one
  summary_start INTEGER,
  summary_end   INTEGER,
  outcome       TEXT,
  participants  INTEGER,
  mos           REAL,
  label         TEXT,
  document      BLOB
) STRICT;
CREATE INDEX conference_place ON conference (place, start_ms);
CREATE INDEX conference_start ON conference (start_ms);
CREATE INDEX conference_app ON conference (app_id, start_ms);
CREATE INDEX conference_end ON conference (end_ms);

CREATE TABLE participant (
  conference INTEGER NOT NULL REFERENCES conference (key) ON DELETE CASCADE,
  session    INTEGER NOT NULL REFERENCES session (key),
  PRIMARY KEY (conference, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX participant_session ON participant (session);
