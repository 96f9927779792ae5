// Package pseudonym computes pseudonyms of the IDs of an application's users, for its records. It is
// pure: keys and IDs in, pseudonyms out.
package pseudonym
