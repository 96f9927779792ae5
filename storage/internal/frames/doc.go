// Package frames is the part of the engines that handles records: it groups them into
// rows, encodes the rows' bodies, removes records that are stored already, and merges
// rows and chunks into a sequence of records.
package frames
