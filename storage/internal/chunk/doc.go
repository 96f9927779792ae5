// Package chunk packs records of ended conferences by column.
//
// # What is packed
//
// Only records of activity are packed: their time alone determines their conference, and
// spans of conferences only grow or merge, so that each chunk remains within one conference.
// An annotation may move to another conference when activity arrives near it, and stays a loose
// row.
//
// A chunk holds the records of one PlaceID, of any number of sessions, in a span of
// time. Its records, values and bytes are bounded. Only erasures change it.
//
// # Format
//
// A body is a payload in an envelope (package envelope): compressed, with a checksum.
//
//	payload:  texts | sessions | frames | shapes
//	texts:    count, then count times: length, bytes; all texts of the chunk, each once
//	sessions: count, then count times: id (16 bytes), number of frames
//	frames:   columns seq, at, conferenceAt, observedAt - at, fabric; a run a session
//	shapes:   count, then count times a shape
//	shape:    name | number of attributes, then each: key, kind | number of runs, then
//	          each: length | columns frame, index | a column an attribute
//
// Records with the same name and the same attributes, by key and kind, have one shape; each
// attribute is a column. Within it the records of a stream (session, fabric, SSRC)
// are adjacent, as a run. Names and keys are numbers of package frames, or texts.
//
// All values are stored as columns of integers (column.go), also doubles: as decimals and
// a column of the differences in ULP (double.go). The encoding is lossless.
package chunk
