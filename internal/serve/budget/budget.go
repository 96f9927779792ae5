package budget

import (
	"sync"
	"sync/atomic"
)

// share is the number of times the free bytes that one application or address may hold.
const share = 3

// IsWithinShare reports whether one application or address may hold held bytes while free bytes are free.
func IsWithinShare(held, free int64) bool { return held <= share*free }

// Level is the kind of an account.
type Level uint8

// The levels, from the root. None means that all accounts have room.
const (
	None Level = iota
	Total
	App
	User
	Session
	Address // of clients before their login, beside the sessions
	Connection

	NumLevels
)

// String returns the name that metrics use.
func (l Level) String() string {
	return [...]string{"none", "total", "app", "user", "session", "address", "connection"}[l]
}

// Limits are the bytes that accounts may hold. 0: no limit of its own.
type Limits struct{ Total, User, Session, Connection int64 }

func (l Limits) limitOf(level Level) int64 {
	switch level {
	case Total:
		return l.Total
	case User:
		return l.User
	case Session, Address:
		return l.Session
	case Connection:
		return l.Connection
	case None, App, NumLevels:
	}
	return 0
}

// Ledger holds the accounts.
type Ledger struct {
	limits  Limits
	refused [NumLevels]atomic.Int64

	mu       sync.Mutex
	root     Account
	accounts map[name]*Account
}

// name identifies an account that several connections share.
type name struct {
	parent *Account
	name   string
}

// Account is one owner of bytes.
type Account struct {
	ledger *Ledger
	parent *Account
	name   string
	level  Level
	refs   int   // open accounts below it, and uses of its own
	used   int64 // kept and transient
	kept   int64
}

// NewLedger returns a ledger without accounts.
func NewLedger(limits Limits) *Ledger {
	l := &Ledger{limits: limits, accounts: make(map[name]*Account)}
	l.root = Account{ledger: l, level: Total, refs: 1}
	return l
}

// Open returns the account of a session of a user of an application. Sessions of one name share it. Every Open
// needs a Close.
func (l *Ledger) Open(app, user, session string) *Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.child(l.child(l.child(&l.root, App, app, 0), User, user, 0), Session, session, 1)
}

// OpenAddress returns the account of an address for clients before their login. All of these have the limit of one
// user of an application without a name; each address has a share of it. Every OpenAddress needs a Close.
func (l *Ledger) OpenAddress(address string) *Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.child(l.child(l.child(&l.root, App, "", 0), User, "", 0), Address, address, 1)
}

// child returns a named account and adds references to it. A new account adds one reference to its parent.
func (l *Ledger) child(parent *Account, level Level, text string, refs int) *Account {
	a := l.accounts[name{parent, text}]
	if a == nil {
		a = &Account{ledger: l, parent: parent, name: text, level: level}
		l.accounts[name{parent, text}] = a
		parent.refs++
	}
	a.refs += refs
	return a
}

// Connect returns the account of one connection of a session. It needs a Close of its own, which gives back
// everything that it holds.
func (a *Account) Connect() *Account {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	a.refs++
	return &Account{ledger: a.ledger, parent: a, level: Connection, refs: 1}
}

// Take charges n transient bytes, or none. It returns the lowest level without room, None if all have room.
func (a *Account) Take(n int64) Level { return a.take(n, 0) }

// Keep charges n kept bytes, or none, and returns the same as Take.
func (a *Account) Keep(n int64) Level { return a.take(n, n) }

func (a *Account) take(n, kept int64) Level {
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for b := a; b != nil; b = b.parent {
		if !b.hasRoom(n, kept) {
			l.refused[b.level].Add(1)
			return b.level
		}
	}
	a.add(n, kept)
	return None
}

// hasRoom reports whether n more bytes fit. kept of them are kept bytes.
func (a *Account) hasRoom(n, kept int64) bool {
	limit := a.ledger.limits.limitOf(a.level)
	return (limit == 0 || a.used+n <= limit && (kept == 0 || a.kept+kept <= limit/2)) && a.isWithinShare(n, kept)
}

// isWithinShare reports whether n more bytes are within the share of an application or address. Other levels have none.
func (a *Account) isWithinShare(n, kept int64) bool {
	if a.level != App && a.level != Address {
		return true
	}
	whole := a.ledger.limits.limitOf(a.parent.level)
	return whole == 0 || IsWithinShare(a.used+n, whole-a.parent.used-n) &&
		(kept == 0 || IsWithinShare(a.kept+kept, whole/2-a.parent.kept-kept))
}

func (a *Account) add(n, kept int64) {
	for b := a; b != nil; b = b.parent {
		b.used += n
		b.kept += kept
	}
}

// Give gives n transient bytes back.
func (a *Account) Give(n int64) { a.give(n, 0) }

// Drop gives n kept bytes back.
func (a *Account) Drop(n int64) { a.give(n, n) }

func (a *Account) give(n, kept int64) {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	a.add(-n, -kept)
}

// Close ends one use of an account. The last one frees the bytes of the account.
func (a *Account) Close() {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	for ; a.parent != nil; a = a.parent {
		if a.refs--; a.refs > 0 {
			return
		}
		a.add(-a.used, -a.kept)
		if a.level != Connection {
			delete(a.ledger.accounts, name{a.parent, a.name})
		}
	}
}

// Used returns the bytes that an account holds.
func (a *Account) Used() int64 {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.used
}

// Holds returns the bytes that the account at a level above holds, or those of a itself.
func (a *Account) Holds(level Level) int64 {
	for a.level > level {
		a = a.parent
	}
	return a.Used()
}

// Used returns the bytes that all accounts hold.
func (l *Ledger) Used() int64 { return l.root.Used() }

// Refused returns how often a level had no room.
func (l *Ledger) Refused(level Level) int64 { return l.refused[level].Load() }

// Accounts returns the number of accounts that are shared by name.
func (l *Ledger) Accounts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.accounts)
}
