-- Renames: what reportUserIDChange called the user of a session in one conference, the newest
-- few of each participant. The one with the highest (seq, idx) is in force. Who writes them has
-- the place locked.
CREATE TABLE qos_rename (
  conference bigint NOT NULL,
  session    bigint NOT NULL,
  seq        bigint NOT NULL,
  idx        integer NOT NULL,
  user_id    bytea NOT NULL,
  user_alias bytea NOT NULL,
  PRIMARY KEY (conference, session, seq, idx)
);

-- Pack reads the conferences of older versions once more, the newest first, and finds theirs.
-- This writes the table anew.
UPDATE qos_conference SET told = false WHERE activity AND told;
