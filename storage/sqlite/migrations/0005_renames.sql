-- Renames: what reportUserIDChange called the user of a session in one conference, the newest
-- few of each participant. The one with the highest (seq, idx) is in force.
CREATE TABLE rename (
  conference INTEGER NOT NULL REFERENCES conference (key) ON DELETE CASCADE,
  session    INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  idx        INTEGER NOT NULL,
  user_id    TEXT NOT NULL,
  user_alias TEXT NOT NULL,
  PRIMARY KEY (conference, session, seq, idx)
) STRICT, WITHOUT ROWID;

-- Pack reads the conferences of older versions once more, the newest first, and finds theirs.
UPDATE conference SET told = 0 WHERE activity = 1;
