// Package conferencetest builds records of conferences for tests of the fold and of the registry of
// live conferences.
package conferencetest
