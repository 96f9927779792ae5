package protocol

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// Code names one kind of refusal (section 9).
type Code string

// The codes of section 9.
const (
	CodeMalformed          Code = "malformed"
	CodeTypeUnknown        Code = "type_unknown"
	CodeFieldMissing       Code = "field_missing"
	CodeFieldType          Code = "field_type"
	CodeFieldTooLong       Code = "field_too_long"
	CodeFieldValue         Code = "field_value"
	CodeFabricUnknown      Code = "fabric_unknown"
	CodeColumnsUnknown     Code = "columns_unknown"
	CodeFrameTooLarge      Code = "frame_too_large"
	CodeTooMany            Code = "too_many"
	CodeVersionUnsupported Code = "version_unsupported"
	CodeHelloExpected      Code = "hello_expected"
	CodeAuthFailed         Code = "auth_failed"
	CodeTokenExpired       Code = "token_expired"
	CodeOriginDenied       Code = "origin_denied"
	CodeThrottled          Code = "throttled"
	CodeOverloaded         Code = "overloaded"
	CodeGoingAway          Code = "going_away"
	CodeInternal           Code = "internal"
)

// CSError is a csError value of the interface document, section 7.
type CSError string

// The csError values that a server can cause.
const (
	CSHTTPError        CSError = "httpError"
	CSAuthError        CSError = "authError"
	CSWSChannelFailure CSError = "wsChannelFailure"
	CSProtoError       CSError = "csProtoError"
)

// retry is when a client may try again after a code (section 9).
type retry int

const (
	retryNever retry = iota
	retryLater       // only after a welcome: then the cause was in the messages that followed
	retryAlways
)

// codeInfo is one row of the table in section 9.
type codeInfo struct {
	csError CSError
	status  int
	retry   retry
}

var codes = map[Code]codeInfo{
	CodeMalformed:          {CSProtoError, http.StatusBadRequest, retryLater},
	CodeTypeUnknown:        {CSProtoError, http.StatusBadRequest, retryLater},
	CodeFieldMissing:       {CSProtoError, http.StatusBadRequest, retryLater},
	CodeFieldType:          {CSProtoError, http.StatusBadRequest, retryLater},
	CodeFieldTooLong:       {CSProtoError, http.StatusBadRequest, retryLater},
	CodeFieldValue:         {CSProtoError, http.StatusBadRequest, retryLater},
	CodeFabricUnknown:      {CSProtoError, http.StatusBadRequest, retryLater},
	CodeColumnsUnknown:     {CSProtoError, http.StatusBadRequest, retryLater},
	CodeFrameTooLarge:      {CSProtoError, http.StatusRequestEntityTooLarge, retryLater},
	CodeTooMany:            {CSProtoError, http.StatusBadRequest, retryLater},
	CodeVersionUnsupported: {CSProtoError, http.StatusBadRequest, retryNever},
	CodeHelloExpected:      {CSProtoError, http.StatusBadRequest, retryAlways},
	CodeAuthFailed:         {CSAuthError, http.StatusUnauthorized, retryNever},
	CodeTokenExpired:       {CSAuthError, http.StatusUnauthorized, retryAlways},
	CodeOriginDenied:       {CSAuthError, http.StatusForbidden, retryNever},
	CodeThrottled:          {CSHTTPError, http.StatusTooManyRequests, retryAlways},
	CodeOverloaded:         {CSWSChannelFailure, http.StatusServiceUnavailable, retryAlways},
	CodeGoingAway:          {CSWSChannelFailure, http.StatusServiceUnavailable, retryAlways},
	CodeInternal:           {CSWSChannelFailure, http.StatusInternalServerError, retryAlways},
}

// Codes returns all codes in alphabetical order.
func Codes() []Code { return slices.Sorted(maps.Keys(codes)) }

// CSError returns the csError value a client reports for the code.
func (c Code) CSError() CSError { return codes[c].csError }

// Retry reports whether a client that was refused with the code may connect again by itself. welcomed
// reports whether its hello was accepted, so that the code is about a later message.
func (c Code) Retry(welcomed bool) bool {
	r := codes[c].retry
	return r == retryAlways || r == retryLater && welcomed
}

// HTTPStatus returns the status of a refusal over HTTP.
func (c Code) HTTPStatus() int { return codes[c].status }

// Error is a refusal. Its text is safe for the sender: it has the field, the limit and the type of
// the value, never the value.
type Error struct {
	Code    Code
	Field   string // the wrong member, empty if it is about none
	Limit   int    // the limit that was exceeded, 0 if it is about none
	Message string // one sentence for the developer of the client
	Seq     uint64 // number of the refused frame, 0 if none could be read
	From    uint64 // first number of a refused skip, 0 if none could be read; not sent

	// RetryAfter is how long the sender has to wait, 0 if only the code defines it. It is sent as
	// retryAfterMs.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string {
	if e.Field == "" {
		return string(e.Code) + ": " + e.Message
	}
	return string(e.Code) + ": " + e.Field + ": " + e.Message
}
