// Package chunk packs records of closed conferences by column.
//
// # What is packed
//
// Only records of activity are packed: their time alone decides their conference, and
// spans of conferences only grow or merge, so a chunk never straddles two. A record that
// is not activity may change its conference when activity comes near, and stays a loose
// row.
//
// A chunk holds the records of one place, of any number of sessions, in a stretch of
// time. It is bounded in records, values and bytes, and never changes.
//
// # Format
//
// A body is a payload in an envelope (package envelope), compressed and with a checksum.
//
//	payload:  texts | sessions | frames | shapes
//	texts:    count, then count times: length, bytes; all texts of the chunk, each once
//	sessions: count, then count times: id (16 bytes), number of frames
//	frames:   columns seq, at, conferenceAt, observedAt - at, fabric; a run a session
//	shapes:   count, then count times a shape
//	shape:    name | number of attributes, then each: key, kind | number of runs, then
//	          each: length | columns frame, index | a column an attribute
//
// Records of one name and with the same attributes, by key and kind, have one shape; each
// attribute is a column. Inside it the records of one stream (session, fabric, SSRC)
// stand together, as a run. Names and keys are numbers of package frames, or texts.
//
// All numbers are columns of integers (column.go), also doubles: as decimals, with the
// difference in units in the last place beside them (double.go). Every bit comes back,
// whatever the value.
package chunk
