-- Ids and texts are bytea: PostgreSQL's text refuses U+0000 and what is no UTF-8, and
-- sorts by a locale that an upgrade of the system may change under an index. There are
-- no foreign keys: every writer holds the row locks (place, session) that keep the
-- references whole, and a check per frame would cost more than the frame.

-- One row a session of an app. day is where its frames are: days since the epoch by the
-- time in its id, or 0 where that lies; it is decided once.
CREATE TABLE qos_session (
  key        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id     bytea NOT NULL,
  id         bytea NOT NULL CHECK (length(id) = 16),
  day        integer NOT NULL,
  user_id    bytea NOT NULL,
  user_alias bytea NOT NULL,
  details    bytea NOT NULL, -- JSON object of strings
  UNIQUE (app_id, id)
);
CREATE INDEX qos_session_day ON qos_session (day);

-- One row an (AppID, conferenceID), whatever number of conferences were held under it. The
-- key is a hash of the two. It stands first in every primary and unique key of a conference's
-- tables, so that they can be partitioned by it, or distributed over servers. Shared by all
-- places are sessions, visits, terms and settings.
CREATE TABLE qos_place (
  key           bigint PRIMARY KEY,
  app_id        bytea NOT NULL,
  conference_id bytea NOT NULL
);

-- The places that a session has frames of: a number that comes again under another
-- conferenceID is looked for there.
CREATE TABLE qos_visit (
  session bigint NOT NULL,
  place   bigint NOT NULL,
  PRIMARY KEY (session, place)
);

-- One row a frame: the records idx to idx+n-1 of frame seq, which share all columns. A
-- frame whose records differ in a column, or that came in parts, has several rows; they
-- never overlap. A frame belongs to a conference by place and time alone, so that a
-- merge of conferences rewrites none. Times are ms since the epoch. Partitions, one a
-- day of session start, are made when their first session comes.
CREATE TABLE qos_frame (
  session       bigint NOT NULL,
  seq           bigint NOT NULL,
  place         bigint NOT NULL,
  at            bigint NOT NULL,
  conference_at bigint NOT NULL,
  observed_at   bigint NOT NULL,
  fabric        bigint NOT NULL,
  day           integer NOT NULL,
  idx           integer NOT NULL,
  n             integer NOT NULL,
  activity      boolean NOT NULL, -- true: at finds the conference; false, an annotation: conference_at does
  body          bytea NOT NULL,
  UNIQUE (place, session, seq, idx, day)
) PARTITION BY LIST (day);
CREATE INDEX qos_frame_activity ON qos_frame (place, at) WHERE activity;
CREATE INDEX qos_frame_other ON qos_frame (place, conference_at) WHERE NOT activity;

-- One row a conference. The rows of a place lie more than the gap apart.
-- end_ms changes with every commit of a live call: no index has it and pages keep room,
-- so that the change stays on its page.
CREATE SEQUENCE qos_conference_key;
CREATE TABLE qos_conference (
  key           bigint NOT NULL DEFAULT nextval('qos_conference_key'),
  place         bigint NOT NULL,
  app_id        bytea NOT NULL,
  start_ms      bigint NOT NULL,
  end_ms        bigint NOT NULL,
  revision      bigint, -- the summary's; the columns below are NULL without one
  summary_start bigint,
  summary_end   bigint,
  outcome       bytea,
  participants  bigint,
  mos           double precision,
  label         bytea,
  cause         bytea,
  digest        bytea,
  terms_dropped bigint NOT NULL DEFAULT 0, -- search terms beyond the most that are kept
  packed        boolean NOT NULL DEFAULT false, -- no loose activity is left that can be packed
  -- Computed, so that no writer can forget them: without a summary of just its span, and
  -- longer than a day. An index that had end_ms itself, in a column or a condition, would end
  -- the updates that stay on their page; these two change once or twice a conference.
  open          boolean GENERATED ALWAYS AS (revision IS NULL OR summary_start <> start_ms OR summary_end <> end_ms) STORED,
  long          boolean GENERATED ALWAYS AS (end_ms - start_ms > 86400000) STORED,
  -- Twice the score, rounded up, in 1 to 10: scores of a range are in a few bands, each in order of start.
  mos_band      integer GENERATED ALWAYS AS (CASE WHEN mos IS NOT NULL THEN 10 - floor((5 - least(greatest(mos, 0.5), 5)) * 2)::integer END) STORED,
  PRIMARY KEY (place, key)
) WITH (fillfactor = 70);
CREATE INDEX qos_conference_place ON qos_conference (place, start_ms);
CREATE INDEX qos_conference_start ON qos_conference (start_ms, key);
CREATE INDEX qos_conference_app ON qos_conference (app_id, start_ms, key);

CREATE TABLE qos_participant (
  place      bigint NOT NULL,
  conference bigint NOT NULL,
  session    bigint NOT NULL,
  PRIMARY KEY (place, conference, session)
);
CREATE INDEX qos_participant_session ON qos_participant (session);

-- Annotations that no conference owns, one row a session and a time: nearly none. Their
-- records are in qos_frame. Who writes them has the place locked.
CREATE SEQUENCE qos_unattached_key;
CREATE TABLE qos_unattached (
  key           bigint NOT NULL DEFAULT nextval('qos_unattached_key'),
  place         bigint NOT NULL,
  app_id        bytea NOT NULL,
  conference_at bigint NOT NULL,
  session       bigint NOT NULL,
  PRIMARY KEY (place, conference_at, session)
);
CREATE INDEX qos_unattached_at ON qos_unattached (conference_at, key);
CREATE INDEX qos_unattached_app ON qos_unattached (app_id, conference_at, key);
CREATE INDEX qos_unattached_session ON qos_unattached (session);

-- Records of activity of closed conferences, packed by column (storage/internal/chunk).
-- A chunk holds records of one place, of sessions of one day, at the times from_ms to
-- to_ms, and never changes; all of them are of one conference, for spans only grow or
-- merge. The body is compressed: PostgreSQL need not try again. Partitions are made and
-- dropped together with those of qos_frame; a day that has none yet gets them when it is
-- written to or packed.
CREATE SEQUENCE qos_chunk_key;
CREATE TABLE qos_chunk (
  key     bigint NOT NULL,
  place   bigint NOT NULL,
  from_ms bigint NOT NULL,
  to_ms   bigint NOT NULL,
  day     integer NOT NULL,
  records integer NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (place, key, day)
) PARTITION BY LIST (day);
ALTER TABLE qos_chunk ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX qos_chunk_place ON qos_chunk (place, from_ms);

-- What of the frames of a session is in chunks: of every seq in first..last, the records
-- idx to idx+n-1. So a late duplicate is known without decoding a chunk. A range is not
-- longer than a chunk has records, which bounds the search for a seq.
CREATE TABLE qos_packed (
  place   bigint NOT NULL,
  session bigint NOT NULL,
  first   bigint NOT NULL,
  last    bigint NOT NULL,
  chunk   bigint NOT NULL,
  idx     integer NOT NULL,
  n       integer NOT NULL,
  day     integer NOT NULL,
  PRIMARY KEY (place, session, first, idx, day)
) PARTITION BY LIST (day);
CREATE INDEX qos_packed_chunk ON qos_packed (place, chunk);

-- The index has start_ms, which hardly ever changes, and not end_ms, which does with every
-- commit of a live call.
CREATE INDEX qos_conference_loose ON qos_conference (start_ms, key) WHERE NOT packed;

-- Search. States that hardly any conference has, open and long, have an index of their own.
-- Rare outcomes are found without reading the frequent one.
CREATE INDEX qos_place_conference ON qos_place (conference_id);
CREATE INDEX qos_conference_outcome ON qos_conference (outcome, start_ms, key) WHERE outcome IS NOT NULL;
CREATE INDEX qos_conference_app_outcome ON qos_conference (app_id, outcome, start_ms, key) WHERE outcome IS NOT NULL;
CREATE INDEX qos_conference_open ON qos_conference (start_ms, key) WHERE open;
CREATE INDEX qos_conference_long ON qos_conference (start_ms, key) WHERE long;

-- The document of a conference's summary, which lists and digests do not read. It is compressed, and a digest is short:
-- PostgreSQL need not try to compress them.
CREATE TABLE qos_document (
  place      bigint NOT NULL,
  conference bigint NOT NULL,
  body       bytea NOT NULL,
  PRIMARY KEY (place, conference)
);
ALTER TABLE qos_document ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE qos_conference ALTER COLUMN digest SET STORAGE EXTERNAL;

-- Hours: the facts of the conferences that started in an hour, in columns (internal/call/digest), for pages about days. A row is
-- inserted some time after its hour ended, first without a body. Triggers delete it with every change of a conference of the
-- hour, so that no statement can leave it out of date. The mark distinguishes a row from one that was inserted later. The
-- body is empty if the hour has too many conferences. Bodies are compressed.
CREATE TABLE qos_hour (
  start_ms bigint PRIMARY KEY, -- a multiple of 3,600,000
  mark     bigint NOT NULL,
  body     bytea
);
ALTER TABLE qos_hour ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE FUNCTION qos_hour_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM qos_hour WHERE start_ms = OLD.start_ms - OLD.start_ms % 3600000;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    DELETE FROM qos_hour WHERE start_ms = NEW.start_ms - NEW.start_ms % 3600000;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER qos_hour_change AFTER INSERT OR DELETE ON qos_conference FOR EACH ROW EXECUTE FUNCTION qos_hour_changed();
CREATE TRIGGER qos_hour_move AFTER UPDATE OF start_ms ON qos_conference FOR EACH ROW
  WHEN (OLD.start_ms <> NEW.start_ms) EXECUTE FUNCTION qos_hour_changed();
CREATE TRIGGER qos_hour_digest AFTER UPDATE OF digest ON qos_conference FOR EACH ROW
  WHEN (OLD.digest IS DISTINCT FROM NEW.digest) EXECUTE FUNCTION qos_hour_changed();

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

-- Terms: what a conference is found by beside its conferenceID, as numbers that package
-- storage/internal/term makes of values. They stand at the start of the conference, so that
-- a search reads the newest first and stops when its page is full; the other index is for
-- what else a search asks of a conference that it has found, and for changes. Who writes
-- them has the place locked.
CREATE TABLE qos_term (
  term       bigint NOT NULL,
  start_ms   bigint NOT NULL, -- the conference's
  place      bigint NOT NULL,
  conference bigint NOT NULL,
  recorded   boolean NOT NULL, -- true: a record of activity says it; false: the session of one who takes part does
  PRIMARY KEY (term, start_ms, conference)
);
CREATE INDEX qos_term_conference ON qos_term (conference, term);

CREATE INDEX qos_conference_label ON qos_conference (label, start_ms, key) WHERE label <> '';
CREATE INDEX qos_conference_app_label ON qos_conference (app_id, label, start_ms, key) WHERE label <> '';
CREATE INDEX qos_conference_cause ON qos_conference (cause, start_ms, key) WHERE cause <> '';
CREATE INDEX qos_conference_app_cause ON qos_conference (app_id, cause, start_ms, key) WHERE cause <> '';
CREATE INDEX qos_conference_band ON qos_conference (mos_band, start_ms, key, mos) WHERE mos_band IS NOT NULL;
CREATE INDEX qos_conference_app_band ON qos_conference (app_id, mos_band, start_ms, key, mos) WHERE mos_band IS NOT NULL;

-- Renames: what reportUserIDChange called the user of a session in one conference, the newest
-- few of each participant. The one with the highest (seq, idx) is in force. Who writes them has
-- the place locked.
CREATE TABLE qos_rename (
  place      bigint NOT NULL,
  conference bigint NOT NULL,
  session    bigint NOT NULL,
  seq        bigint NOT NULL,
  idx        integer NOT NULL,
  user_id    bytea NOT NULL,
  user_alias bytea NOT NULL,
  PRIMARY KEY (place, conference, session, seq, idx)
);


-- Pre-call tests, which belong to no conference: one row a test, with the description of its session at that time. Writers
-- hold a shared lock of the settings' counter, so that no erasure is registered while they write.
CREATE TABLE qos_precall (
  key         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id      bytea NOT NULL,
  session     bytea NOT NULL CHECK (length(session) = 16),
  seq         bigint NOT NULL,
  idx         integer NOT NULL,
  at          bigint NOT NULL, -- ms since the epoch
  observed_at bigint NOT NULL,
  status      bytea NOT NULL,
  user_id     bytea NOT NULL,
  user_alias  bytea NOT NULL,
  details     bytea NOT NULL, -- JSON object of strings
  body        bytea NOT NULL, -- the result as JSON
  UNIQUE (app_id, session, seq, idx)
);
CREATE INDEX qos_precall_at ON qos_precall (at, key);
CREATE INDEX qos_precall_app ON qos_precall (app_id, at, key);
CREATE INDEX qos_precall_status ON qos_precall (app_id, status, at, key);

-- What a test is found by: terms of its session, and of the providers that it tested.
CREATE TABLE qos_precall_term (
  term    bigint NOT NULL,
  at      bigint NOT NULL, -- of the test
  precall bigint NOT NULL,
  PRIMARY KEY (term, at, precall)
);
CREATE INDEX qos_precall_term_precall ON qos_precall_term (precall);

-- Points: the part of a conference or of a feedback that windows of webhooks count, once each.
-- Only apps with webhooks have them, and they are kept for about a day. Writers hold the lock of
-- the settings' counter, so that keys become visible in their order.
CREATE TABLE qos_point (
  key           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  identity      bytea NOT NULL, -- SHA-256 of the three ids
  app_id        bytea NOT NULL,
  conference_id bytea NOT NULL,
  id            bytea NOT NULL, -- of a feedback; empty: the conference
  start_ms      bigint NOT NULL,
  end_ms        bigint NOT NULL,
  recorded_at   bigint NOT NULL, -- ms since the epoch
  body          bytea NOT NULL
);
CREATE INDEX qos_point_identity ON qos_point (identity, start_ms);
CREATE INDEX qos_point_recorded ON qos_point (recorded_at);

-- Notices: notifications to webhooks and their deliveries. state 0 is pending, 1 delivered, 2 dead.
CREATE TABLE qos_notice (
  key          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id           bytea NOT NULL UNIQUE,
  app_id       bytea NOT NULL,
  hook         bytea NOT NULL,
  state        integer NOT NULL,
  created_at   bigint NOT NULL, -- ms since the epoch, as all times here
  due_at       bigint NOT NULL,
  attempts     integer NOT NULL,
  attempted_at bigint NOT NULL, -- 0: never
  latency_ms   bigint NOT NULL,
  status       integer NOT NULL,
  error        bytea NOT NULL,
  body         bytea NOT NULL
);
CREATE INDEX qos_notice_due ON qos_notice (app_id, hook, due_at, key) WHERE state = 0;
CREATE INDEX qos_notice_app ON qos_notice (app_id, key);
CREATE INDEX qos_notice_created ON qos_notice (created_at) WHERE state <> 0;

-- Logins: sessions of users of the dashboard, from sign-in to sign-out. Users are settings.
CREATE TABLE qos_login (
  id         bytea PRIMARY KEY, -- SHA-256 of the token that the browser has
  user_name  bytea NOT NULL,
  generation bigint NOT NULL, -- of the user when they signed in
  method     bytea NOT NULL,
  created_at bigint NOT NULL, -- ms since the epoch
  seen_at    bigint NOT NULL
);
CREATE INDEX qos_login_user ON qos_login (user_name, seen_at);
CREATE INDEX qos_login_created ON qos_login (created_at);
CREATE INDEX qos_login_seen ON qos_login (seen_at);

-- Audit entries: sign-ins, reads of conferences, changes of settings. Writers hold the lock of the
-- settings' counter, so that keys become visible in their order.
CREATE TABLE qos_audit (
  key    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at     bigint NOT NULL, -- ms since the epoch
  actor  bytea NOT NULL,
  action bytea NOT NULL,
  app_id bytea NOT NULL,
  target bytea NOT NULL,
  body   bytea NOT NULL
);
CREATE INDEX qos_audit_at ON qos_audit (at);
CREATE INDEX qos_audit_actor ON qos_audit (actor, key);
CREATE INDEX qos_audit_app ON qos_audit (app_id, key) WHERE length(app_id) > 0;
