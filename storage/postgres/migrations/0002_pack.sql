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
  PRIMARY KEY (key, day)
) PARTITION BY LIST (day);
ALTER TABLE qos_chunk ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX qos_chunk_place ON qos_chunk (place, from_ms);

-- What of the frames of a session is in chunks: of every seq in first..last, the records
-- idx to idx+n-1. So a late duplicate is known without decoding a chunk. A range is not
-- longer than a chunk has records, which bounds the search for a seq.
CREATE TABLE qos_packed (
  session bigint NOT NULL,
  first   bigint NOT NULL,
  last    bigint NOT NULL,
  chunk   bigint NOT NULL,
  idx     integer NOT NULL,
  n       integer NOT NULL,
  day     integer NOT NULL,
  PRIMARY KEY (session, first, idx, day)
) PARTITION BY LIST (day);
CREATE INDEX qos_packed_chunk ON qos_packed (chunk);

-- True: no loose activity is left that could be packed. The index has start_ms, which
-- hardly ever changes, and not end_ms, which does with every commit of a live call.
ALTER TABLE qos_conference ADD COLUMN packed boolean NOT NULL DEFAULT false;
CREATE INDEX qos_conference_loose ON qos_conference (start_ms, key) WHERE activity AND NOT packed;

-- Search. What hardly any conference is has an index of its own: open, without a summary of
-- just its span, or long, more than a day. Both are computed, so that no writer can forget
-- them; an index that had end_ms itself, in a column or a condition, would end the updates
-- that stay on their page, these two change once or twice a conference. Rare outcomes are
-- found without looking through the frequent one. Adding the columns writes the table anew.
ALTER TABLE qos_conference
  ADD COLUMN open boolean GENERATED ALWAYS AS (revision IS NULL OR summary_start <> start_ms OR summary_end <> end_ms) STORED,
  ADD COLUMN long boolean GENERATED ALWAYS AS (end_ms - start_ms > 86400000) STORED;
CREATE INDEX qos_place_conference ON qos_place (conference_id);
CREATE INDEX qos_conference_outcome ON qos_conference (outcome, start_ms, key) WHERE outcome IS NOT NULL;
CREATE INDEX qos_conference_app_outcome ON qos_conference (app_id, outcome, start_ms, key) WHERE outcome IS NOT NULL;
CREATE INDEX qos_conference_open ON qos_conference (start_ms, key) WHERE open;
CREATE INDEX qos_conference_long ON qos_conference (start_ms, key) WHERE long;

-- Documents are compressed: PostgreSQL need not try again.
ALTER TABLE qos_conference ALTER COLUMN document SET STORAGE EXTERNAL;
