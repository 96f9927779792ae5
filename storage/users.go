package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Bounds of erasures.
const (
	// MaxUserIDs bounds the IDs of one User.
	MaxUserIDs = 16
	// MaxErasures bounds the erasures that a store applies to late records.
	MaxErasures = 1000
)

// ErrNoErasure is returned if no erasure has the ID.
var ErrNoErasure = errors.New("no such erasure")

// User identifies one user of an app by IDs of the same person.
type User struct {
	AppID string
	IDs   []string // userName, aliasName, string or former ID; compared byte by byte
}

// Check returns an error that wraps ErrInvalid if u has no ID, or one out of bounds.
func (u *User) Check() error {
	if u.AppID == "" || len(u.AppID) > MaxIDBytes {
		return fmt.Errorf("%w: the AppID of a user has 1 to %d bytes (got %d)", ErrInvalid, MaxIDBytes, len(u.AppID))
	}
	if len(u.IDs) == 0 || len(u.IDs) > MaxUserIDs {
		return fmt.Errorf("%w: a user has 1 to %d IDs (got %d)", ErrInvalid, MaxUserIDs, len(u.IDs))
	}
	for _, id := range u.IDs {
		if id == "" || len(id) > MaxIDBytes {
			return fmt.Errorf("%w: an ID of a user has 1 to %d bytes (got %d)", ErrInvalid, MaxIDBytes, len(id))
		}
	}
	return nil
}

// The kinds of Exported.
const (
	ExportedUser    = "user"    // the IDs of the user
	ExportedSession = "session" // a session of the user
	ExportedRecord  = "record"  // a record of a session of the user
	ExportedMention = "mention" // the parts of another's record that name the user
	ExportedSummary = "summary" // the parts of a summary that are about the user
	ExportedPreCall = "precall" // a pre-call test of a session of the user
	ExportedAudit   = "audit"   // an entry of the audit log that names the user
)

// Exported is one part of a user's data. Identifiers of other users are replaced by placeholders,
// which are the same throughout one export.
type Exported struct {
	Type         string          `json:"type"`
	ConferenceID string          `json:"conferenceID,omitempty"`
	StartMs      int64           `json:"startMs,omitempty"` // of the conference, since the epoch
	Session      string          `json:"session,omitempty"`
	AtMs         int64           `json:"atMs,omitempty"`
	Name         string          `json:"name,omitempty"` // of the record; of an audit entry its action
	IDs          []string        `json:"ids,omitempty"`
	Attributes   map[string]any  `json:"attributes,omitempty"`
	Document     json.RawMessage `json:"document,omitempty"`
}

// ErasureState is the progress of an erasure.
type ErasureState string

// The states of an erasure, in their order.
const (
	ErasureSessions    ErasureState = "sessions"    // the user's sessions are searched for and erased
	ErasureConferences ErasureState = "conferences" // records and summaries are erased, conference by conference
	ErasureOthers      ErasureState = "others"      // unattached annotations, pre-call tests and the audit log are erased
	ErasureRewriting   ErasureState = "rewriting"   // the files are rewritten, so that no page has what was erased
	ErasureDone        ErasureState = "done"
)

// Erasure is one erasure and its progress. It does not contain the user's IDs.
type Erasure struct {
	ID          string       `json:"id"`
	AppID       string       `json:"app"`
	At          time.Time    `json:"at"` // sessions and fabrics that began before are erased, also if they arrive later
	State       ErasureState `json:"state"`
	Pseudonym   string       `json:"pseudonym"` // replaces the user's IDs
	Sessions    int          `json:"sessions"`  // of the user
	Conferences int          `json:"conferences"`
	Records     int          `json:"records"` // that were changed
	Summaries   int          `json:"summaries"`
	Entries     int          `json:"auditEntries"`
	Damaged     int          `json:"damaged"`          // parts that could not be read, and may contain an ID
	Named       int          `json:"conferencesNamed"` // conferences whose conferenceID has an ID as a word; it is not changed
	EndedAt     time.Time    `json:"endedAt,omitzero"` // when State became done
	ExpiresAt   time.Time    `json:"expiresAt"`        // when it is deleted
}

// Users exports and erases the stored data of one user. It is safe for concurrent use, by any number of
// processes that share the store.
//
// A session belongs to the user if the name or alias of its user, now or in any of its conferences, is one of the
// IDs. The other names of such a session belong to the user, too, in the conferences in which it takes part.
type Users interface {
	// ExportUser calls yield for each part of the user's data, until yield returns false. The first is of
	// type ExportedUser and has all IDs of the user's sessions. Damaged parts are left out; after all
	// others it returns an error that wraps ErrDamaged.
	ExportUser(ctx context.Context, u User, yield func(Exported) bool) error
	// EraseUser registers an erasure. After it has returned, the user is erased from new data before it is stored.
	// RunErasures erases stored data. It returns ErrFull if there are MaxErasures.
	EraseUser(ctx context.Context, u User) (Erasure, error)
	// Erasure returns one erasure of an app, or ErrNoErasure.
	Erasure(ctx context.Context, appID, id string) (Erasure, error)
	// RunErasures runs all erasures that are not done, in short transactions between those of writers,
	// and returns the number that it completed. If it is interrupted, the next call continues.
	RunErasures(ctx context.Context) (done int, err error)
}
