-- Terms: what a conference is found by beside its conferenceID, as numbers that package
-- storage/internal/term makes of values. They stand at the start of the conference, so that
-- a search reads the newest first and stops when its page is full; the other index is for
-- what else a search asks of a conference that it has found, and for changes.
CREATE TABLE term (
  term       INTEGER NOT NULL,
  start_ms   INTEGER NOT NULL, -- the conference's
  conference INTEGER NOT NULL REFERENCES conference (key) ON DELETE CASCADE,
  recorded   INTEGER NOT NULL, -- 1: a record of activity says it; 0: the session of one who takes part does
  PRIMARY KEY (term, start_ms, conference)
) STRICT, WITHOUT ROWID;
CREATE INDEX term_conference ON term (conference, term);

-- told: 0 of conferences that were here before there were terms, until Pack has made theirs;
-- the newest first. unfindable: values beyond the most that are kept.
ALTER TABLE conference ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conference ADD COLUMN unfindable INTEGER NOT NULL DEFAULT 0;
CREATE INDEX conference_untold ON conference (start_ms) WHERE told = 0;

ALTER TABLE conference ADD COLUMN cause TEXT;
CREATE INDEX conference_label ON conference (label, start_ms) WHERE label <> '';
CREATE INDEX conference_app_label ON conference (app_id, label, start_ms) WHERE label <> '';
CREATE INDEX conference_cause ON conference (cause, start_ms) WHERE cause <> '';
CREATE INDEX conference_app_cause ON conference (app_id, cause, start_ms) WHERE cause <> '';
