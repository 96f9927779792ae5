package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Bounds of points and notices.
const (
	MaxPointBodyBytes  = 1 << 10
	MaxNoticeBodyBytes = 16 << 10
	MaxNoticesPage     = 200
)

// ErrNoNotice is returned if no notice has the id.
var ErrNoNotice = errors.New("no such notice")

// Point is the part of one conference, or of one feedback, that windows of webhooks count.
type Point struct {
	Key          int64 // of the row, assigned by AddPoints; later points have higher keys
	AppID        string
	ConferenceID string
	ID           string    // session and number of a feedback; empty: of a conference
	Start, End   time.Time // of the conference; both are the time of a feedback
	RecordedAt   time.Time // when a collector recorded it
	Body         []byte    // 1 to MaxPointBodyBytes
}

// Check returns an error that wraps ErrInvalid if an engine must not store p.
func (p *Point) Check() error {
	switch {
	case p.AppID == "" || len(p.AppID) > MaxIDBytes || p.ConferenceID == "" || len(p.ConferenceID) > MaxIDBytes || len(p.ID) > MaxIDBytes:
		return fmt.Errorf("%w: the ids of a point have at most %d bytes", ErrInvalid, MaxIDBytes)
	case len(p.Body) == 0 || len(p.Body) > MaxPointBodyBytes:
		return fmt.Errorf("%w: the body of a point has 1 to %d bytes (got %d)", ErrInvalid, MaxPointBodyBytes, len(p.Body))
	case p.End.Before(p.Start):
		return fmt.Errorf("%w: a point ends before its start", ErrInvalid)
	}
	return nil
}

// NoticeState is the state of a delivery.
type NoticeState int

// The states of a delivery.
const (
	NoticePending NoticeState = iota
	NoticeDelivered
	NoticeDead // not delivered, no further attempts unless it is replayed
)

// Notice is one notification to one webhook, and its delivery.
type Notice struct {
	Key       int64  // of the row, assigned by AddNotices; later notices have higher keys
	ID        string // 1 to MaxIDBytes, unique: AddNotices keeps the first notice of an id
	AppID     string
	Hook      string // id of the app's webhook
	State     NoticeState
	CreatedAt time.Time
	DueAt     time.Time // of the next attempt, if it is pending
	Body      []byte    // 1 to MaxNoticeBodyBytes; it never changes

	Attempts    int
	AttemptedAt time.Time     // of the last attempt; zero before the first
	Latency     time.Duration // of the last attempt, in ms
	Status      int           // HTTP status of the last attempt, 0 without an answer
	Error       string        // of the last attempt, empty after a delivery
}

// Check returns an error that wraps ErrInvalid if an engine must not store n.
func (n *Notice) Check() error {
	for _, id := range []string{n.ID, n.AppID, n.Hook} {
		if id == "" || len(id) > MaxIDBytes {
			return fmt.Errorf("%w: the ids of a notice have 1 to %d bytes (got %d)", ErrInvalid, MaxIDBytes, len(id))
		}
	}
	if len(n.Body) == 0 || len(n.Body) > MaxNoticeBodyBytes {
		return fmt.Errorf("%w: the body of a notice has 1 to %d bytes (got %d)", ErrInvalid, MaxNoticeBodyBytes, len(n.Body))
	}
	if n.State < NoticePending || n.State > NoticeDead {
		return fmt.Errorf("%w: state %d of a notice", ErrInvalid, n.State)
	}
	return nil
}

// NoticeQuery selects notices of one app. Zero values of Hook and State do not narrow.
type NoticeQuery struct {
	AppID  string
	Hook   string
	State  *NoticeState
	Before int64 // continue after the notice of this key; 0: from the newest
	Limit  int   // 1 to MaxNoticesPage; 0 means MaxNoticesPage
}

// Added is the result of AddNotices. Duplicates were stored before.
type Added struct {
	New        int
	Duplicates int
	Dropped    int // beyond the limit of pending notices of a webhook
}

// Notices stores notifications. It is safe for concurrent use, by any number of
// processes that share the store. Times have a precision of ms.
type Notices interface {
	// AddPoints adds the points that are not stored yet, and returns their number. It adds all of
	// them, or none and returns an error. A point is stored already if one of the same app,
	// conferenceID and ID is at most instance.Gap from its span: revisions of a
	// conference count once.
	AddPoints(ctx context.Context, points []Point) (added int, err error)
	// Points returns points in the order of their keys: those after a key that were recorded
	// at a time or later, at most limit. Keys become visible in order.
	Points(ctx context.Context, after int64, recorded time.Time, limit int) ([]Point, error)
	// AddNotices adds the notices whose ids are not stored yet. It drops new notices of a
	// webhook that has at least most pending notices.
	AddNotices(ctx context.Context, notices []Notice, most int) (Added, error)
	// NextNotices returns, for each webhook, the pending notice that is due first, without its body, in
	// the order of apps and webhooks: those after a webhook of an app, at most limit.
	NextNotices(ctx context.Context, app, hook string, limit int) ([]Notice, error)
	// UpdateNotice writes the state, the due time and the last attempt of a notice if it is in
	// the state from. It returns ErrNoNotice without such a notice, and ErrConflict in another state.
	UpdateNotice(ctx context.Context, n Notice, from NoticeState) error
	// Notice returns one notice, or ErrNoNotice.
	Notice(ctx context.Context, id string) (Notice, error)
	// NoticesPage returns notices of an app, the newest first.
	NoticesPage(ctx context.Context, q NoticeQuery) ([]Notice, error)
	// ForgetNotices deletes points that were recorded before a time, and notices that are
	// not pending and were created before another.
	ForgetNotices(ctx context.Context, points, notices time.Time) error
}
