// Package hours reads the digests of a time hour by hour, counts them, and keeps both, so that pages about a day or a week
// read the store once: counts of whole hours, and the columns of the hours that were used last.
//
// Both are kept while somebody asks. Then a tail of the store's commits removes the hours that change.
package hours
