package auth

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// decoyWork bounds the work for AppIDs that do not exist. While few such handshakes are under
// way each one costs what that of an existing app does. Any more wait as long as the last of
// their kind worked: invented names take no time from others, and neither answer nor time
// tells that a name is invented.
type decoyWork struct {
	slots chan struct{}
	took  map[string]*atomic.Int64 // nanoseconds, by kind
}

// kindScram is the kind of a SCRAM proof; that of a token is its algorithm.
const kindScram = "scram"

func newDecoyWork() *decoyWork {
	return &decoyWork{
		slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
		took:  map[string]*atomic.Int64{kindScram: {}, AlgorithmES256: {}, AlgorithmHS256: {}},
	}
}

// do works, or waits as long.
func (w *decoyWork) do(kind string, work func()) {
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
		began := time.Now()
		work()
		w.took[kind].Store(int64(time.Since(began)))
	default:
		<-time.After(time.Duration(w.took[kind].Load()))
	}
}

// errDecoy ends the verification of a token whose signature a decoy was checked with.
var errDecoy = errors.New("the app does not exist")

// verify checks the signature of a parsed token with a decoy.
func (w *decoyWork) verify(token *jwt.Token, decoy VerificationKey) error {
	text := token.Raw[:strings.LastIndexByte(token.Raw, '.')]
	w.do(token.Method.Alg(), func() { _ = token.Method.Verify(text, token.Signature, decoy.material()) })
	return errDecoy
}
