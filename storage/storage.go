// Package storage holds the store's small interfaces and the types that cross them. The
// store is the truth: every record has an identity, (session, seq, index), and stands in
// it once. Engines live in sub-packages (storage/sqlite) and pass one conformance suite
// (storage/storagetest).
package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrNotFound says that there is no such conference.
var ErrNotFound = errors.New("no such conference")

// MaxIDBytes bounds an AppID, a conferenceID, and a summary's outcome, label and cause. Indexes hold them, and PostgreSQL's take no
// more than 2.7 kB a row; the protocol's own limits are narrower.
const MaxIDBytes = 1024

// MaxDigestBytes bounds the Digest of a Summary.
const MaxDigestBytes = 32 << 10

// ErrInvalid says that a Writer cannot keep what it was given, now or ever: an id or a
// time is missing or out of range, or an attribute has a type that is not kept.
var ErrInvalid = errors.New("invalid")

// ErrDamaged says that a part of what is stored cannot be read back: a checksum is wrong,
// or an encoding makes no sense. The error that wraps it names the part. All else is read.
var ErrDamaged = errors.New("damaged")

// Session describes one run of a client for one user. It is written with its records;
// the newest description wins.
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
	ConferenceAt time.Time      // a time inside the conference, as the client knows it
	Fabric       int            // 0 when the record belongs to no fabric
	Name         string         // semconv event name (qos.stats, qos.event, …)
	At           time.Time      // client's corrected clock
	ObservedAt   time.Time      // arrival at the receiver
	Activity     bool           // it makes and prolongs a conference; false: an annotation (docs/protocol.md, section 10)
	Attributes   map[string]any // string, int64, float64 or bool, by semconv name
}

// Batch is the records of one session, in any order.
type Batch struct {
	Session Session
	Records []Record
}

// Appended counts what an Append did. Duplicates were in the store before.
type Appended struct {
	New        int
	Duplicates int
	// TermsDropped counts search terms of conferences that have as many as are kept. A record
	// that is sent again may be counted again.
	TermsDropped int
}

// Add adds what another Append did.
func (a *Appended) Add(other Appended) {
	a.New += other.New
	a.Duplicates += other.Duplicates
	a.TermsDropped += other.TermsDropped
}

// Summary is one revision of what a conference came to. The store keeps the highest
// revision.
type Summary struct {
	AppID        string
	ConferenceID string
	Start        time.Time
	End          time.Time
	Revision     int
	Outcome      string          // success, partiallyFailed, … (requirement CONF-05)
	Participants int             // sessions that took part
	MOS          *float64        // conference score, nil when there is no evidence
	Label        string          // excellent … bad, or empty
	Cause        string          `json:",omitempty"` // likely cause of what was wrong (docs/cause.md), or empty
	Document     json.RawMessage // the whole summary, internal/conference.Summary as JSON; nil in a Page
	// Digest is the facts by which conferences are counted and compared (internal/digest), at most MaxDigestBytes. Only
	// erasures read or change it. nil: none; in a Page, unless Query.Digests is set.
	Digest []byte `json:",omitempty"`
}

// Writer is the store's writing side. It is safe for concurrent use.
type Writer interface {
	// Append writes the records that are not in the store yet; all of them, durably, or an error. If one is
	// invalid it writes none. After another error a part may have been written, which Appended counts:
	// very many records are several transactions, so that other writers come between them.
	// Activity creates, extends and merges conferences as package instance decides. An annotation belongs to the conference that instance.Owner names by its
	// ConferenceAt; where there is none it is listed as unattached, until activity makes one.
	// So the outcome does not depend on the order of arrival. Times are kept in ms.
	Append(ctx context.Context, batches []Batch) (Appended, error)
	// PutSummary writes a summary to the conference at (AppID, ConferenceID, Start),
	// unless a higher revision of the same span is there. Its span may differ a little
	// from the conference's. It stays when activity prolongs the conference, and the
	// highest revision stays when conferences merge. Where there is no conference it writes
	// nothing and fails with ErrNotFound: records are written before their summary.
	PutSummary(ctx context.Context, s Summary) error
	// AppendPreCalls writes the pre-call tests that are not in the store yet; all of them,
	// durably, or none and an error.
	AppendPreCalls(ctx context.Context, tests []PreCall) (Appended, error)
}

// Ref finds a conference: a time inside it is part of its name, for conferenceIDs are
// used again. A time outside all of them finds the one that owns annotations about it: up to
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
	Summary      *Summary // the newest; nil until the conference ended for the first time
	TermsDropped int      `json:",omitempty"` // search terms beyond the most that are kept
	Matched      []string `json:",omitempty"` // as what Query.Any was found: a Matched… word or a key of additionalIDs; in a Page
}

// What a value is that a conference was found by.
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
	// gave the session's user in this conference, in order of the records' numbers; the newest
	// 16. The Session goes on to have the names that it began with.
	Renames []Name
}

// Name is what a user is called.
type Name struct {
	UserID    string // real name, for support roles
	UserAlias string // alias, for engineering roles
}

// Name returns what the participant is called now.
func (p Participant) Name() Name {
	if n := len(p.Renames); n > 0 {
		return p.Renames[n-1]
	}
	return Name{p.Session.UserID, p.Session.UserAlias}
}

// Query selects conferences. Zero values do not narrow, all others together do. Texts are
// exact, byte for byte.
type Query struct {
	AppID        string
	ConferenceID string
	From, To     time.Time // conferences that overlap [From, To)
	Outcome      string
	Label        string // of the conference's score
	Cause        string // likely cause
	Failed       bool   // only the outcomes totallyFailed, partiallyFailed and dropped
	// MinMOS and MaxMOS bound the conference score: both are of the range, nil is no bound. A conference without a score
	// is not found where either is set.
	MinMOS, MaxMOS *float64
	Unsummarised   bool // only conferences without a summary of just their span

	// What follows finds a conference from its first record of activity on, with or without
	// a summary.

	// UserID is what a participant is called, or was: name or alias of the session's user, of
	// the remote end of a fabric, and each that a record of activity gave to either.
	UserID             string
	SiteID             string // of a participant
	ApplicationVersion string // of a participant
	AdditionalID       string // of a participant, of any key
	AdditionalKey      string // narrows AdditionalID to one key
	Any                string // one of the four above, or the conferenceID
	AliasesOnly        bool   // whether a real name, other than the alias, finds nothing

	Digests bool // whether summaries of the Page have their Digest

	Before Cursor // continue after this row; zero: from the newest
	Limit  int    // 1 to 200; 0 means 50

	// MaxParticipants bounds the participants of a page, which take some 3 kB each; 0 means DefaultPageParticipants.
	MaxParticipants int
}

// DefaultPageParticipants is the bound of a page's participants where a query has none.
const DefaultPageParticipants = 5000

// Cursor is the place of a row in a listing, which runs from the newest start backwards.
type Cursor struct {
	Start time.Time
	Key   int64 // the engine's own row key, breaks ties
}

// Compare is negative where the row at c comes before that at other in a listing: its start is newer.
func (c Cursor) Compare(other Cursor) int {
	return cmp.Or(other.Start.Compare(c.Start), cmp.Compare(other.Key, c.Key))
}

// Page is a part of a listing. Next is zero when there is no more.
type Page struct {
	Conferences []Conference
	Cursors     []Cursor // of each conference
	Next        Cursor
}

// DigestQuery selects conferences by their start, in [From, To). Zero values do not narrow.
type DigestQuery struct {
	AppID    string
	From, To time.Time
}

// Digest is one conference of a Digests call.
type Digest struct {
	AppID      string
	Start, End time.Time // End is the last activity so far while the conference goes on
	Body       []byte    // the Digest of its summary; nil without one
}

const (
	// MaxUnattachedRecords bounds the records of an Unattached.
	MaxUnattachedRecords = 50
	// MaxUnattachedBytes bounds the texts of a page of them.
	MaxUnattachedBytes = 8 << 20
)

// Unattached is the annotations of one session about one time, of which no conference is the
// owner.
type Unattached struct {
	AppID        string
	ConferenceID string
	At           time.Time // ConferenceAt of the records
	Session      Session
	Records      []Record // in order of (At, Seq, Index), the first MaxUnattachedRecords
	More         bool     // there are more than these
}

// TextBytes returns the bytes of the texts of the records.
func (u *Unattached) TextBytes() (n int) {
	for i := range u.Records {
		for _, v := range u.Records[i].Attributes {
			text, _ := v.(string)
			n += len(text)
		}
	}
	return n
}

// UnattachedQuery selects unattached annotations. Zero values do not narrow.
type UnattachedQuery struct {
	AppID        string
	ConferenceID string    // exact, case-sensitive
	From, To     time.Time // by At, in [From, To)
	Before       Cursor    // continue after this entry; zero: from the newest
	Limit        int       // 1 to 200; 0 means 50
}

// UnattachedPage is a part of the list. Next is zero when there is no more.
type UnattachedPage struct {
	Unattached []Unattached
	Cursors    []Cursor // of each entry
	Next       Cursor
}

// Reader is the store's reading side. It is safe for concurrent use.
type Reader interface {
	// Conferences lists conferences, newest first. Their summaries are without Document,
	// which may be long: Conference has it. Whatever a query narrows is found by an index;
	// what it looks through beyond what it returns is what narrows it further. A page ends
	// before the conference with which it would have more than q.MaxParticipants, unless that
	// is its first.
	Conferences(ctx context.Context, q Query) (Page, error)
	// Conference returns the conference at ref, or ErrNotFound. Where the Document of its
	// summary is damaged it returns all else, and an error that wraps ErrDamaged and names
	// the conference.
	Conference(ctx context.Context, ref Ref) (Conference, error)
	// CountParticipants returns the number of Participants of the conference at ref, or
	// ErrNotFound. It reads none of them.
	CountParticipants(ctx context.Context, ref Ref) (int, error)
	// Records calls yield for each record of the conference at ref in order of
	// (At, session, Seq, Index): its activity, and the annotations that it owns, until yield
	// returns false. The session is one of the
	// conference's Participants. Records that are damaged are left out; then it returns,
	// after all others, an error that wraps ErrDamaged and names what is.
	Records(ctx context.Context, ref Ref, yield func(sessionID string, r Record) bool) error
	// RecordsFrom is Records for the records that are not before from. It reads no others.
	RecordsFrom(ctx context.Context, ref Ref, from time.Time, yield func(sessionID string, r Record) bool) error
	// Digests calls yield for each conference that q selects, in order of start, until yield returns false. Conferences
	// without a summary are among them. The Body is valid until yield returns. It reads some hundred conferences at a
	// time and holds no connection while yield runs. A conference whose start changes meanwhile, because earlier activity
	// arrives, may be left out or come twice.
	Digests(ctx context.Context, q DigestQuery, yield func(Digest) bool) error
	// Hours calls yield for each hour in [from, to) whose digests are stored together, ascending, until yield returns
	// false: hour is its begin, columns the result of digest.Columns.Encode for the conferences that Digests returns for the
	// hour. Hours that ended or changed a short time ago, and hours with too many conferences, are left out.
	Hours(ctx context.Context, from, to time.Time, yield func(hour time.Time, columns []byte) bool) error
	// Unattached lists annotations that no conference owns, newest first. A page ends before the
	// entry with which it would have more than MaxUnattachedBytes, unless that is its first.
	// Records that are damaged are left out; then the error wraps ErrDamaged and the page is
	// there all the same.
	Unattached(ctx context.Context, q UnattachedQuery) (UnattachedPage, error)
	// PreCalls lists pre-call tests, newest first. Tests that are damaged are left out; then the
	// error wraps ErrDamaged and the page has all others.
	PreCalls(ctx context.Context, q PreCallQuery) (PreCallPage, error)
}

// Remover deletes what is old. It works in small steps between the writes; where it was stopped
// the next call goes on.
type Remover interface {
	// DeleteBefore deletes the conferences that ended before a time, with all that belongs to
	// them, and returns their number. Unattached annotations about an earlier time and earlier
	// pre-call tests are deleted too.
	DeleteBefore(ctx context.Context, before time.Time) (int, error)
	// DeleteAppBefore is DeleteBefore for one app.
	DeleteAppBefore(ctx context.Context, appID string, before time.Time) (int, error)
}

// HourMaker stores the digests of an hour together, for Reader.Hours.
type HourMaker interface {
	// MakeHours makes the columns of hours that ended before a time, and returns the number of hours. One call marks the
	// hours without columns. The next call makes the columns of each marked hour, unless a conference of the hour has
	// changed since. So an hour that changes often is not made each time. Collectors may call it concurrently.
	MakeHours(ctx context.Context, before time.Time) (int, error)
}

// Packed counts what a Pack did.
type Packed struct {
	Conferences int   // that have no loose records of activity any more
	Records     int   // moved into chunks
	Bytes       int64 // that the chunks take
}

// Change is the effect of commits on one conference since the Change before it.
type Change struct {
	// CatchUp is true when changes may have been lost: a follower reads again all that it
	// shows. All other fields are empty.
	CatchUp bool

	AppID        string
	ConferenceID string
	From, To     time.Time // the times by which what was written finds its conference
	Records      int       // new ones
	Summary      bool      // whether a summary was written
}

// Filter selects changes. Zero values do not narrow.
type Filter struct {
	AppID        string
	ConferenceID string // exact, case-sensitive
}

// Follower is the store's live side: a tail of its commits. It is safe for concurrent use.
type Follower interface {
	// Follow calls yield for each change after its commit, whichever process made it, until
	// yield returns false (it returns nil), ctx ends (its error) or the store is closed (an
	// error). The first call is a CatchUp, so that nothing falls between what was read
	// before and what is followed; further ones come after a gap, where the follower was too slow
	// or the database was away, and after an erasure changed conferences. Changes of a conference that wait for yield are made one,
	// and a bounded number waits.
	Follow(ctx context.Context, f Filter, yield func(Change) bool) error
}
