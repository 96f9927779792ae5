// Package storage defines the interfaces of the store and their types. Every record
// has an identity, (session, seq, index), and is stored
// once. Engines are in sub-packages (storage/sqlite) and pass one conformance suite
// (tests/store/storagetest).
package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrNotFound is returned if there is no such conference.
var ErrNotFound = errors.New("no such conference")

// MaxIDBytes bounds an AppID, a conferenceID, and a summary's outcome, label and cause. Indexes contain them, and an
// index row of PostgreSQL is at most 2.7 kB. The protocol's own limits are lower.
const MaxIDBytes = 1024

// MaxDigestBytes bounds the Digest of a Summary.
const MaxDigestBytes = 32 << 10

// ErrInvalid is returned if a Writer will never accept its input: an id or a
// time is missing or out of range, or an attribute has an unsupported type.
var ErrInvalid = errors.New("invalid")

// ErrDamaged is returned if a part of the store cannot be read: a checksum is wrong,
// or an encoding is invalid. The error that wraps it names the part. All other parts are read.
var ErrDamaged = errors.New("damaged")

// Session describes one run of a client for one user. It is written with its records;
// the newest description replaces earlier ones.
type Session struct {
	ID        string // UUID version 7
	AppID     string
	UserID    string            // real name, for support roles
	UserAlias string            // alias, for engineering roles
	Details   map[string]string // endpoint attributes by semconv name (applicationVersion, siteID, …)
}

// Record is one event on a conference's time-line: a row of a measurement, an event, an
// error, feedback, a log, a skip.
type Record struct {
	Seq          uint64
	Index        int
	ConferenceID string
	ConferenceAt time.Time      // a time inside the conference, from the client
	Fabric       int            // 0 when the record belongs to no fabric
	Name         string         // semconv event name (qos.stats, qos.event, …)
	At           time.Time      // client's corrected clock
	ObservedAt   time.Time      // arrival at the receiver
	Activity     bool           // it creates and extends a conference; false: an annotation (docs/protocol.md, section 10)
	Attributes   map[string]any // string, int64, float64 or bool, by semconv name
}

// Batch is the records of one session, in any order.
type Batch struct {
	Session Session
	Records []Record
}

// Appended is the result of Append. Duplicates were stored before.
type Appended struct {
	New        int
	Duplicates int
	// TermsDropped counts search terms beyond the limit per conference. The terms of a record
	// that is sent again may be counted again.
	TermsDropped int
}

// Add adds the result of another Append.
func (a *Appended) Add(other Appended) {
	a.New += other.New
	a.Duplicates += other.Duplicates
	a.TermsDropped += other.TermsDropped
}

// Summary is one revision of the summary of a conference. The store keeps the highest
// revision.
type Summary struct {
	AppID        string
	ConferenceID string
	Start        time.Time
	End          time.Time
	Revision     int
	Outcome      string          // success, partiallyFailed, … (requirement CONF-05)
	Participants int             // sessions that took part
	MOS          *float64        // conference score, nil without evidence
	Label        string          // excellent … bad, or empty
	Cause        string          `json:",omitempty"` // likely cause of what was wrong (docs/cause.md), or empty
	Document     json.RawMessage // the whole summary, internal/call/conference.Summary as JSON; nil in a Page
	// Digest is the facts by which conferences are counted and compared (internal/call/digest), at most MaxDigestBytes. Only
	// erasures read or change it. nil: none; in a Page also if Query.Digests is not set.
	Digest []byte `json:",omitempty"`
}

// Writer is the writing side of the store. It is safe for concurrent use.
type Writer interface {
	// Append stores the records that are not stored yet, durably. If one is invalid, it stores none. After any
	// other error it may have stored a part, which Appended counts: very many records are written in several
	// transactions, with those of other writers in between.
	// Activity creates, extends and merges conferences as package instance decides. An annotation belongs to the
	// conference that instance.Owner returns for its ConferenceAt; without one it is listed as unattached, until
	// activity creates one. So the result does not depend on the order of arrival. Times have a precision of ms.
	Append(ctx context.Context, batches []Batch) (Appended, error)
	// PutSummary stores a summary of the conference at (AppID, ConferenceID, Start),
	// unless a higher revision of the same span is stored. Its span may differ a little
	// from the conference's. It remains when activity extends the conference, and the
	// highest revision remains when conferences merge. Without a conference it stores
	// nothing and returns ErrNotFound: records are written before their summary.
	PutSummary(ctx context.Context, s Summary) error
	// AppendPreCalls stores the pre-call tests that are not stored yet, durably: all of them,
	// or none and returns an error.
	AppendPreCalls(ctx context.Context, tests []PreCall) (Appended, error)
}

// Ref identifies a conference. Its key includes a time, because conferenceIDs are
// reused. A time outside of all conferences refers to the one that owns annotations about it, up to
// instance.Gap before its start and up to instance.Reach after its end, the nearest.
type Ref struct {
	AppID        string
	ConferenceID string
	At           time.Time
}

// Conference is one row of a listing.
type Conference struct {
	AppID        string
	ConferenceID string
	Start        time.Time
	End          time.Time // last activity so far while Summary is nil
	Participants []Participant
	Summary      *Summary // the newest; nil before the conference ended for the first time
	TermsDropped int      `json:",omitempty"` // search terms beyond the limit
	Matched      []string `json:",omitempty"` // kinds of the values that matched Query.Any: a Matched… constant or a key of additionalIDs; in a Page
}

// The kinds of values in Conference.Matched.
const (
	MatchedConferenceID = "conferenceID"
	MatchedUser         = "userID"
	MatchedSite         = "siteID"
	MatchedVersion      = "applicationVersion"
	MatchedAdditional   = "additionalIDs" // of a key that the interface does not know
)

// Participant is one session in one conference.
type Participant struct {
	Session Session
	// Renames are the names that records of activity (event userIDChange, userIDType local)
	// gave the session's user in this conference, in order of the records' numbers, the newest
	// 16. Session has the names at its start.
	Renames []Name
}

// Name is the name of a user.
type Name struct {
	UserID    string // real name, for support roles
	UserAlias string // alias, for engineering roles
}

// Name returns the participant's current name.
func (p Participant) Name() Name {
	if n := len(p.Renames); n > 0 {
		return p.Renames[n-1]
	}
	return Name{p.Session.UserID, p.Session.UserAlias}
}

// Query selects conferences that fulfil all conditions. Zero values are no condition. Texts are
// compared byte by byte.
type Query struct {
	AppID        string
	ConferenceID string
	From, To     time.Time // conferences that overlap [From, To)
	Outcome      string
	Label        string // of the conference's score
	Cause        string // likely cause
	Failed       bool   // only the outcomes totallyFailed, partiallyFailed and dropped
	// MinMOS and MaxMOS bound the conference score, inclusively; nil is no bound. If either is set, conferences
	// without a score are excluded.
	MinMOS, MaxMOS *float64
	Unsummarised   bool // only conferences without a summary of exactly their span

	// The conditions below find a conference from its first record of activity on, with or without
	// a summary.

	// UserID is a current or former name of a participant: name or alias of the session's user or of
	// the remote end of a fabric, or a name that a record of activity gave to either.
	UserID             string
	SiteID             string // of a participant
	ApplicationVersion string // of a participant
	AdditionalID       string // of a participant, of any key
	AdditionalKey      string // narrows AdditionalID to one key
	Any                string // one of the four above, or the conferenceID
	AliasesOnly        bool   // real names, other than the alias, find nothing

	Digests bool // summaries of the Page have their Digest

	Before Cursor // continue after this row; zero: from the newest
	Limit  int    // 1 to 200; 0 means 50

	// MaxParticipants bounds the participants of a page, of 3 kB each; 0 means DefaultPageParticipants.
	MaxParticipants int
}

// DefaultPageParticipants is the default of Query.MaxParticipants.
const DefaultPageParticipants = 5000

// Cursor is the position of a row in a listing, in which the newest start is first.
type Cursor struct {
	Start time.Time
	Key   int64 // the engine's row key, for equal starts
}

// Compare is negative if the row at c precedes that at other in a listing: its start is newer.
func (c Cursor) Compare(other Cursor) int {
	return cmp.Or(other.Start.Compare(c.Start), cmp.Compare(other.Key, c.Key))
}

// Page is a page of a listing. Next is zero on the last page.
type Page struct {
	Conferences []Conference
	Cursors     []Cursor // of each conference
	Next        Cursor
}

// DigestQuery selects conferences by their start, in [From, To). Zero values are no condition.
type DigestQuery struct {
	AppID    string
	From, To time.Time
}

// Digest is one conference of a Digests call.
type Digest struct {
	AppID      string
	Start, End time.Time // End is the last activity so far if the conference has not ended
	Body       []byte    // the Digest of its summary; nil without one
}

const (
	// MaxUnattachedRecords bounds the records of an Unattached.
	MaxUnattachedRecords = 50
	// MaxUnattachedBytes bounds the texts of a page of Unattached.
	MaxUnattachedBytes = 8 << 20
)

// Unattached is the annotations of one session about one time that belong to no conference.
type Unattached struct {
	AppID        string
	ConferenceID string
	At           time.Time // ConferenceAt of the records
	Session      Session
	Records      []Record // in order of (At, Seq, Index), the first MaxUnattachedRecords
	More         bool     // there are more than these
}

// TextBytes returns the total length of the records' texts in bytes.
func (u *Unattached) TextBytes() (n int) {
	for i := range u.Records {
		for _, v := range u.Records[i].Attributes {
			text, _ := v.(string)
			n += len(text)
		}
	}
	return n
}

// UnattachedQuery selects unattached annotations. Zero values are no condition.
type UnattachedQuery struct {
	AppID        string
	ConferenceID string    // exact, case-sensitive
	From, To     time.Time // by At, in [From, To)
	Before       Cursor    // continue after this entry; zero: from the newest
	Limit        int       // 1 to 200; 0 means 50
}

// UnattachedPage is a page of the list. Next is zero on the last page.
type UnattachedPage struct {
	Unattached []Unattached
	Cursors    []Cursor // of each entry
	Next       Cursor
}

// Reader is the reading side of the store. It is safe for concurrent use.
type Reader interface {
	// Conferences lists conferences, newest first. Their summaries have no Document,
	// which may be long; Conference returns it. Each condition of a query has an index; the most
	// selective one is used, and the others are checked row by row. A page ends
	// before the conference with which it would exceed q.MaxParticipants, unless that
	// is its first.
	Conferences(ctx context.Context, q Query) (Page, error)
	// Conference returns the conference at ref, or ErrNotFound. If the Document of its
	// summary is damaged, it returns everything else, and an error that wraps ErrDamaged and names
	// the conference.
	Conference(ctx context.Context, ref Ref) (Conference, error)
	// CountParticipants returns the number of Participants of the conference at ref, or
	// ErrNotFound, without reading them.
	CountParticipants(ctx context.Context, ref Ref) (int, error)
	// Records calls yield for each record of the conference at ref in order of
	// (At, session, Seq, Index), its activity and the annotations that it owns, until yield
	// returns false. The session is one of the conference's Participants. Damaged records are left
	// out; after all others it returns an error that wraps ErrDamaged and names them.
	Records(ctx context.Context, ref Ref, yield func(sessionID string, r Record) bool) error
	// RecordsFrom is Records for the records that are not before from. It reads no others.
	RecordsFrom(ctx context.Context, ref Ref, from time.Time, yield func(sessionID string, r Record) bool) error
	// Digests calls yield for each conference that q selects, in order of start, until yield returns false. Conferences
	// without a summary are included. The Body is valid until yield returns. It reads some hundred conferences at a
	// time and holds no connection while yield runs. If earlier activity arrives meanwhile and changes the start of a
	// conference, that conference may be left out or repeated.
	Digests(ctx context.Context, q DigestQuery, yield func(Digest) bool) error
	// Hours calls yield for each hour in [from, to) whose digests are stored together, ascending, until yield returns
	// false: hour is its begin, columns the result of digest.Columns.Encode for the conferences of Digests in the hour.
	// Hours that ended or changed a short time ago, and hours with too many conferences, are left out.
	Hours(ctx context.Context, from, to time.Time, yield func(hour time.Time, columns []byte) bool) error
	// Unattached lists annotations that belong to no conference, newest first. A page ends before the
	// entry with which it would exceed MaxUnattachedBytes, unless that is its first.
	// Damaged records are left out; then the page is valid, and the error wraps ErrDamaged.
	Unattached(ctx context.Context, q UnattachedQuery) (UnattachedPage, error)
	// PreCalls lists pre-call tests, newest first. Damaged tests are left out; then the page is
	// valid, and the error wraps ErrDamaged.
	PreCalls(ctx context.Context, q PreCallQuery) (PreCallPage, error)
}

// Remover deletes old data, in small transactions between those of writers. If it is interrupted,
// the next call continues.
type Remover interface {
	// DeleteBefore deletes the conferences that ended before a time, with all their
	// data, and returns their number. It also deletes unattached annotations about an earlier time and
	// earlier pre-call tests.
	DeleteBefore(ctx context.Context, before time.Time) (int, error)
	// DeleteAppBefore is DeleteBefore for one app.
	DeleteAppBefore(ctx context.Context, appID string, before time.Time) (int, error)
}

// HourMaker stores the digests of an hour together, for Reader.Hours.
type HourMaker interface {
	// MakeHours stores the columns of hours that ended before a time, and returns their number. One call marks
	// the hours without columns. The next call stores the columns of each marked hour, unless a conference of the
	// hour has changed since, so that an hour that changes often is not rebuilt each time. Several collectors may
	// call it concurrently.
	MakeHours(ctx context.Context, before time.Time) (int, error)
}

// Packed is the result of Pack.
type Packed struct {
	Conferences int   // without loose records of activity now
	Records     int   // moved into chunks
	Bytes       int64 // total length of the chunks
}

// Change is the effect of commits on one conference since the previous Change.
type Change struct {
	// CatchUp is true if changes may have been lost: the follower must read again everything that it
	// shows. All other fields are empty.
	CatchUp bool

	AppID        string
	ConferenceID string
	From, To     time.Time // range of the times that select the conference of what was written
	Records      int       // number of new records
	Summary      bool      // a summary was written
}

// Filter selects changes. Zero values are no condition.
type Filter struct {
	AppID        string
	ConferenceID string // exact, case-sensitive
}

// Follower is the live side of the store: it follows commits. It is safe for concurrent use.
type Follower interface {
	// Follow calls yield for each change after its commit, of any process, until
	// yield returns false (it returns nil), ctx ends (its error) or the store is closed (an
	// error). The first change is a CatchUp, so that no commit is lost between an earlier read
	// and the first notification. Further ones follow a gap, if the follower was too slow
	// or the database was unreachable, and an erasure that changed conferences. Pending changes of a conference are
	// merged, and their number is bounded.
	Follow(ctx context.Context, f Filter, yield func(Change) bool) error
}
