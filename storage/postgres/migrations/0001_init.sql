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

-- One row an (AppID, conferenceID), whatever number of conferences were held under it.
CREATE TABLE qos_place (
  key           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id        bytea NOT NULL,
  conference_id bytea NOT NULL,
  UNIQUE (app_id, conference_id)
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
  activity      boolean NOT NULL, -- true: at finds the conference, false: conference_at does
  body          bytea NOT NULL,
  UNIQUE (session, seq, idx, day)
) PARTITION BY LIST (day);
CREATE INDEX qos_frame_activity ON qos_frame (place, at) WHERE activity;
CREATE INDEX qos_frame_other ON qos_frame (place, conference_at) WHERE NOT activity;

-- One row a conference. The rows of a place lie more than the gap apart. A row without
-- activity holds records that are not activity, or a summary, until activity comes near.
-- end_ms changes with every commit of a live call: no index has it and pages keep room,
-- so that the change stays on its page.
CREATE TABLE qos_conference (
  key           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  place         bigint NOT NULL,
  app_id        bytea NOT NULL,
  start_ms      bigint NOT NULL,
  end_ms        bigint NOT NULL,
  activity      boolean NOT NULL,
  revision      bigint, -- the summary's; the columns below are NULL without one
  summary_start bigint,
  summary_end   bigint,
  outcome       bytea,
  participants  bigint,
  mos           double precision,
  label         bytea,
  document      bytea
) WITH (fillfactor = 70);
CREATE INDEX qos_conference_place ON qos_conference (place, start_ms);
CREATE INDEX qos_conference_start ON qos_conference (start_ms, key);
CREATE INDEX qos_conference_app ON qos_conference (app_id, start_ms, key);

CREATE TABLE qos_participant (
  conference bigint NOT NULL,
  session    bigint NOT NULL,
  PRIMARY KEY (conference, session)
);
CREATE INDEX qos_participant_session ON qos_participant (session);
