package agent

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// User is who is logged in.
type User struct {
	// Name is the userID, or the userName of a userID object; 1 to MaxUserIDBytes bytes.
	Name string
	// Alias is the aliasName of a userID object, or empty.
	Alias string
}

// Who says who is logged in, from what the origin server knows of a request: its session
// cookie, a header of a proxy that it trusts. It returns ErrNotLoggedIn (403) or another
// error (500), of which only Options.Report hears. It must not take the user from what the
// page may choose. It is called by many goroutines at once and ends with r.Context().
type Who func(r *http.Request) (User, error)

// ErrNotLoggedIn is what Who returns when nobody is logged in; it may be wrapped.
var ErrNotLoggedIn = errors.New("not logged in")

// Options of a Handler. AppID, Key and Who are required.
type Options struct {
	AppID string
	// Key returns the key that signs now. It is called once a token, by many goroutines.
	Key func() *Key
	Who Who
	// Origins are the web origins (https://app.example.org) whose pages may ask. When there
	// are any, a request needs an Origin header out of them, and gets CORS headers for it.
	// Leave them out only where Who needs more than what a browser sends by itself.
	Origins []string
	// Lifetime is how far exp lies ahead, MinLifetime to MaxLifetime; 0: RecommendedOffset.
	Lifetime time.Duration
	// Backdate is how far nbf lies back, up to MaxLifetime; 0: RecommendedOffset.
	Backdate time.Duration
	// InFlight bounds the requests that are answered at once; one more gets 503. 0: no bound.
	InFlight int
	// Report hears of each answer, for logs and metrics. It is called before the answer is
	// sent, by many goroutines at once.
	Report func(Answer)
}

// Answer is what became of a request. It holds neither token nor user.
type Answer struct {
	Status  int           // HTTP status code
	Reason  Reason        // why, with few values, for a metric's label
	Err     error         // for the log; nil where Reason says it all
	KeyID   string        // of the key that signed, or empty
	TokenID string        // jti, as the collector's audit log has it, or empty
	Took    time.Duration // from the request's headers to the answer
	WhoTook time.Duration // of it in Who
}

// Handler is the token endpoint of interface document 4.3: POST answers 200 {"token"}, 403
// {"error"} when nobody is logged in, 500 {"error"} when no token can be made.
type Handler struct {
	options Options
	running chan struct{} // nil: no bound
}

// NewHandler checks the options.
func NewHandler(o Options) (*Handler, error) {
	if o.Lifetime == 0 {
		o.Lifetime = RecommendedOffset
	}
	if o.Backdate == 0 {
		o.Backdate = RecommendedOffset
	}
	switch {
	case o.AppID == "" || len(o.AppID) > MaxUserIDBytes:
		return nil, fmt.Errorf("the AppID has 1 to %d bytes, not %d", MaxUserIDBytes, len(o.AppID))
	case o.Key == nil || o.Who == nil:
		return nil, errors.New("the handler needs Key and Who")
	case o.Lifetime < MinLifetime || o.Lifetime > MaxLifetime:
		return nil, fmt.Errorf("the lifetime of a token is %s to %s, not %s", MinLifetime, MaxLifetime, o.Lifetime)
	case o.Backdate < 0 || o.Backdate > MaxLifetime:
		return nil, fmt.Errorf("a token is backdated by at most %s, not %s", MaxLifetime, o.Backdate)
	case o.InFlight < 0:
		return nil, fmt.Errorf("requests in flight cannot be %d", o.InFlight)
	}
	for _, origin := range o.Origins {
		if err := CheckOrigin(origin); err != nil {
			return nil, fmt.Errorf("origin %q: %w", origin, err)
		}
	}
	h := &Handler{options: o}
	h.options.Origins = slices.Clone(o.Origins)
	if o.InFlight > 0 {
		h.running = make(chan struct{}, o.InFlight)
	}
	return h, nil
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if h.preflight(w, r) {
		return
	}
	answer, token, problem := Answer{}, "", h.admit(w, r)
	if problem == nil {
		token, problem = h.limited(w, r, &answer)
	}
	answer.Status, answer.Reason = http.StatusOK, ReasonOK
	if problem != nil {
		answer.Status, answer.Reason, answer.Err = problem.status, problem.reason, problem.err
	}
	answer.Took = time.Since(start)
	if h.options.Report != nil {
		h.options.Report(answer)
	}
	write(w, token, problem)
}

// limited is make within the bound of requests in flight.
func (h *Handler) limited(w http.ResponseWriter, r *http.Request, answer *Answer) (string, *problem) {
	if h.running == nil {
		return h.make(w, r, answer)
	}
	select {
	case h.running <- struct{}{}:
		defer func() { <-h.running }()
		return h.make(w, r, answer)
	default:
		w.Header().Set("Retry-After", "1")
		return "", &problem{http.StatusServiceUnavailable, ReasonOverloaded, "too many requests at once", nil}
	}
}

// make finds out who is logged in and signs.
func (h *Handler) make(w http.ResponseWriter, r *http.Request, answer *Answer) (string, *problem) {
	wanted, problem := readBody(w, r)
	if problem != nil {
		return "", problem
	}
	asked := time.Now()
	user, err := h.options.Who(r)
	answer.WhoTook = time.Since(asked)
	if err != nil {
		return "", whoProblem(err)
	}
	userID, problem := choose(user, wanted)
	if problem != nil {
		return "", problem
	}
	key := h.options.Key()
	if key == nil {
		return "", failed(ReasonSign, errors.New("there is no key"))
	}
	claims := NewClaims(h.options.AppID, userID, time.Now(), h.options.Lifetime, h.options.Backdate)
	token, err := key.Sign(&claims)
	if err != nil {
		return "", failed(ReasonSign, err)
	}
	answer.KeyID, answer.TokenID = claims.KeyID, claims.ID
	return token, nil
}

// choose returns the name that goes into the token: the one that the page is known by, or
// the other of the two where the page asks for it by that. The collector takes either for a
// userID object.
func choose(user User, wanted string) (string, *problem) {
	id := user.Name
	if user.Alias != "" && wanted == user.Alias {
		id = user.Alias
	}
	if err := CheckUserID(id); err != nil {
		return "", failed(ReasonUserID, err)
	}
	if wanted != "" && wanted != id {
		return "", &problem{http.StatusForbidden, ReasonOtherUser, "logged in as another user", nil}
	}
	return id, nil
}

func whoProblem(err error) *problem {
	if errors.Is(err, ErrNotLoggedIn) {
		return &problem{http.StatusForbidden, ReasonNotLoggedIn, "not logged in", err}
	}
	return &problem{http.StatusInternalServerError, ReasonWho, "cannot find out who is logged in", err}
}

// write sends the answer. A token is base64url and dots, and texts are ours: no escaping.
func write(w http.ResponseWriter, token string, p *problem) {
	status, body := http.StatusOK, `{"token":"`+token+`"}`
	if p != nil {
		status, body = p.status, `{"error":`+strconv.Quote(p.text)+`}`
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) //nolint:gosec // G705: JSON of our own texts; who went away hears nothing
}
