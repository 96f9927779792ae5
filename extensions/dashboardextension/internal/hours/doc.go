// Package hours counts the conferences of a time from their digests, and keeps the counts of whole hours, so that a
// page about a week reads the store once.
//
// Counts are kept while somebody asks. Then a tail of the store's commits removes the hours that change.
package hours
