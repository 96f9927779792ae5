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

-- 1: no loose activity is left that could be packed. By start_ms, which hardly ever
-- changes: end_ms does with every commit of a live call.
ALTER TABLE conference ADD COLUMN packed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX conference_loose ON conference (start_ms, key) WHERE activity = 1 AND packed = 0;

-- Search. What hardly any conference is has an index of its own: open, without a summary of
-- just its span, or long, more than a day. Both are computed, so that no writer can forget
-- them, and take no room in the row. Rare outcomes are found without looking through the
-- frequent one. An index of start_ms has the key too.
CREATE INDEX place_conference ON place (conference_id);
ALTER TABLE conference ADD COLUMN open INTEGER GENERATED ALWAYS AS (revision IS NULL OR summary_start <> start_ms OR summary_end <> end_ms) VIRTUAL;
ALTER TABLE conference ADD COLUMN long INTEGER GENERATED ALWAYS AS (end_ms - start_ms > 86400000) VIRTUAL;
CREATE INDEX conference_outcome ON conference (outcome, start_ms) WHERE outcome IS NOT NULL;
CREATE INDEX conference_app_outcome ON conference (app_id, outcome, start_ms) WHERE outcome IS NOT NULL;
CREATE INDEX conference_open ON conference (start_ms) WHERE open;
CREATE INDEX conference_app_open ON conference (app_id, start_ms) WHERE open;
CREATE INDEX conference_long ON conference (start_ms) WHERE long;
