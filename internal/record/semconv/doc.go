// Package semconv names every attribute, event and metric once, with its unit: the
// contract between the stages of the pipeline. docs/telemetry.md is generated from it.
//
// One log record is one event on a conference's time-line. Its trace id is the first 16
// bytes of SHA-256(appID, NUL, conferenceID) (a routing key, not the identity of a call),
// its span id the first 8 bytes of SHA-256(session, NUL, fabric number in decimal), or
// zero. The resource describes the session, the scope the fabric, the record the rest.
package semconv
