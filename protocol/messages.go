package protocol

import "encoding/json"

// Type is the "type" member of a message.
type Type string

// The message types of version 1.
const (
	TypeScramFirst Type = "scram-first"
	TypeScramFinal Type = "scram-final"
	TypeJWT        Type = "jwt"
	TypeToken      Type = "token"

	TypeConfiguration Type = "configuration"

	TypeHello    Type = "hello"
	TypeWelcome  Type = "welcome"
	TypeFabric   Type = "fabric"
	TypeColumns  Type = "columns"
	TypeStats    Type = "stats"
	TypeEvent    Type = "event"
	TypeError    Type = "error"
	TypeFeedback Type = "feedback"
	TypeLog      Type = "log"
	TypeSDP      Type = "sdp"
	TypePreCall  Type = "precall"
	TypeSkip     Type = "skip"
	TypeAck      Type = "ack"
	TypeNack     Type = "nack"
	TypeSlowDown Type = "slow-down"
	TypeBye      Type = "bye"
)

// UserID identifies a user (interface document 2.1, 2.2). On the wire it is a string, or an object
// with userName and aliasName; a string is its own alias.
type UserID struct {
	Name  string // userName, or the string: the real name, for support roles
	Alias string // aliasName, or the string: for engineering roles
}

// Hello opens a connection (section 4.1).
type Hello struct {
	Versions           []int
	Token              string
	Session            string
	Acked              uint64
	At                 int64
	Library            string
	UserAgent          string
	ApplicationVersion string
	SiteID             string
	AdditionalIDs      map[string]string
}

// Fabric announces one pair of PeerConnection and conference (section 4.2).
type Fabric struct {
	Fabric                      int
	ConferenceID                string
	AddedAt                     int64 // ms since the epoch
	RemoteUserID                UserID
	FabricUsage                 string
	RemoteEndpointType          string // "peer" or "server"
	FabricTransmissionDirection string
}

// Columns announces the names of a row (section 4.2).
type Columns struct {
	Set       int
	StatsType string
	MediaType string // empty for candidate-pair
	Names     []string
	Measures  []Measure // Measures[i] is the measure of Names[i]
}

// Header is the common part of all numbered frames.
type Header struct {
	Seq uint64
	At  int64 // ms since the epoch, the client's corrected clock
}

// Scope is the fabric or the conference of a frame: Fabric, or ConferenceID and ConferenceAt if
// Fabric is nil (section 4.4).
type Scope struct {
	Fabric       *Fabric
	ConferenceID string
	ConferenceAt int64
}

// Stats is a measurement of one fabric (section 4.3). Records and their Values are valid until the
// decoder's next Decode.
type Stats struct {
	Header
	Fabric     *Fabric
	IntervalMs float64
	Records    []Record
}

// Record is one row. Values[i] belongs to Columns.Names[i].
type Record struct {
	Columns *Columns
	Values  []Value
}

// Kind is the type of a Value.
type Kind uint8

// The kinds of a Value.
const (
	Null Kind = iota
	Number
	String
	Bool
)

// Value is one value of a row.
type Value struct {
	Kind Kind
	Num  float64 // Number; 1 for true
	Str  string  // String
}

// Event is a fabric or conference event (section 4.4). Data is an object or nil.
type Event struct {
	Header
	Scope
	Event string
	Data  json.RawMessage
}

// ErrorReport is a failure that the application reported (section 4.5). LocalSDPBytes and
// RemoteSDPBytes are the lengths of SDPs that follow in sdp frames, else 0.
type ErrorReport struct {
	Header
	Scope
	Function       string
	Name           string
	Message        string
	Code           string
	ConstraintName string
	Stack          string
	Details        string // further members of the error, as JSON
	LocalSDP       string
	RemoteSDP      string
	LocalSDPBytes  int
	RemoteSDPBytes int
}

// SDPPart is a part of an SDP for which its error frame has no room (section 4.5).
type SDPPart struct {
	Header
	Scope
	Error  uint64 // the error frame's number
	Field  string // "localSDP" or "remoteSDP"
	Offset int    // of Text in the whole SDP, in bytes
	Text   string
}

// Feedback is a user's rating (section 4.5). A score of 0 was not given.
type Feedback struct {
	Header
	Scope
	UserID  UserID
	Overall int
	Audio   int
	Video   int
	Screen  int
	Comment string
}

// Log is a text of the application (section 4.5).
type Log struct {
	Header
	Scope
	Text string
}

// Skip declares the numbers From to Seq as dropped before they were sent (section 4.6).
type Skip struct {
	Header
	From uint64
	Lost []Lost
}

// Lost counts the losses of a Skip for one fabric; a nil Fabric is for losses of no fabric.
type Lost struct {
	Fabric *Fabric
	Stats  int
	Events int
}

// Bye ends a connection (section 4.9).
type Bye struct {
	Code         Code
	CSError      CSError
	Message      string
	Retry        bool
	RetryAfterMs int64
}

// Frame is a message of a client: *Hello, *Fabric, *Columns, *Stats, *Event, *ErrorReport, *SDPPart,
// *Feedback, *Log, *PreCall, *Skip or *Bye.
type Frame interface{ frame() }

func (*Hello) frame()       {}
func (*Fabric) frame()      {}
func (*Columns) frame()     {}
func (*Stats) frame()       {}
func (*Event) frame()       {}
func (*ErrorReport) frame() {}
func (*SDPPart) frame()     {}
func (*Feedback) frame()    {}
func (*Log) frame()         {}
func (*PreCall) frame()     {}
func (*Skip) frame()        {}
func (*Bye) frame()         {}
