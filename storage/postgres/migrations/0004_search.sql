-- Terms: what a conference is found by beside its conferenceID, as numbers that package
-- storage/internal/term makes of values. They stand at the start of the conference, so that
-- a search reads the newest first and stops when its page is full; the other index is for
-- what else a search asks of a conference that it has found, and for changes. Who writes
-- them has the place locked.
CREATE TABLE qos_term (
  term       bigint NOT NULL,
  start_ms   bigint NOT NULL, -- the conference's
  conference bigint NOT NULL,
  recorded   boolean NOT NULL, -- true: a record of activity says it; false: the session of one who takes part does
  PRIMARY KEY (term, start_ms, conference)
);
CREATE INDEX qos_term_conference ON qos_term (conference, term);

-- told: false of conferences that were here before there were terms, until Pack has made
-- theirs; the newest first. unfindable: values beyond the most that are kept.
ALTER TABLE qos_conference
  ADD COLUMN told boolean NOT NULL DEFAULT false,
  ADD COLUMN unfindable bigint NOT NULL DEFAULT 0,
  ADD COLUMN cause bytea;
CREATE INDEX qos_conference_untold ON qos_conference (start_ms) WHERE NOT told;

CREATE INDEX qos_conference_label ON qos_conference (label, start_ms, key) WHERE label <> '';
CREATE INDEX qos_conference_app_label ON qos_conference (app_id, label, start_ms, key) WHERE label <> '';
CREATE INDEX qos_conference_cause ON qos_conference (cause, start_ms, key) WHERE cause <> '';
CREATE INDEX qos_conference_app_cause ON qos_conference (app_id, cause, start_ms, key) WHERE cause <> '';
