package protocol

import (
	"net/http"
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

// codeInfo is one row of the table in section 9.
type codeInfo struct {
	csError CSError
	status  int
}

var codes = map[Code]codeInfo{
	CodeMalformed:          {CSProtoError, http.StatusBadRequest},
	CodeTypeUnknown:        {CSProtoError, http.StatusBadRequest},
	CodeFieldMissing:       {CSProtoError, http.StatusBadRequest},
	CodeFieldType:          {CSProtoError, http.StatusBadRequest},
	CodeFieldTooLong:       {CSProtoError, http.StatusBadRequest},
	CodeFieldValue:         {CSProtoError, http.StatusBadRequest},
	CodeFabricUnknown:      {CSProtoError, http.StatusBadRequest},
	CodeColumnsUnknown:     {CSProtoError, http.StatusBadRequest},
	CodeFrameTooLarge:      {CSProtoError, http.StatusRequestEntityTooLarge},
	CodeTooMany:            {CSProtoError, http.StatusBadRequest},
	CodeVersionUnsupported: {CSProtoError, http.StatusBadRequest},
	CodeHelloExpected:      {CSProtoError, http.StatusBadRequest},
	CodeAuthFailed:         {CSAuthError, http.StatusUnauthorized},
	CodeTokenExpired:       {CSAuthError, http.StatusUnauthorized},
	CodeOriginDenied:       {CSAuthError, http.StatusForbidden},
	CodeThrottled:          {CSHTTPError, http.StatusTooManyRequests},
	CodeOverloaded:         {CSWSChannelFailure, http.StatusServiceUnavailable},
	CodeGoingAway:          {CSWSChannelFailure, http.StatusServiceUnavailable},
	CodeInternal:           {CSWSChannelFailure, http.StatusInternalServerError},
}

// CSError returns the csError value a client reports for the code.
func (c Code) CSError() CSError { return codes[c].csError }

// HTTPStatus returns the status of a refusal over HTTP.
func (c Code) HTTPStatus() int { return codes[c].status }

// Error is a refusal. Its text is safe for the sender: it names the field, the limit
// and the kind of what came, never a payload.
type Error struct {
	Code    Code
	Field   string // the member at fault, empty when it is none
	Limit   int    // the limit that was passed, 0 when it is none
	Message string // one sentence for the developer of the client
	Seq     uint64 // the number of the refused frame, 0 when none could be read
	From    uint64 // the first number of a refused skip, 0 when none could be read; not sent

	// RetryAfter is how long the sender has to wait until it is let in, 0 where only the
	// code tells. The writer of the refusal sends it as retryAfterMs.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string {
	if e.Field == "" {
		return string(e.Code) + ": " + e.Message
	}
	return string(e.Code) + ": " + e.Field + ": " + e.Message
}
