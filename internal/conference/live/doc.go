// Package live keeps the conferences that go on, and those that ended a while ago and may
// still be revised: it joins records into conferences as package instance decides, notices
// when they end, emits their summaries and notifies of issues. What a conference comes to is
// package conference's; this package is its registry. It is pure, too: time is an argument.
//
// # Where a record goes
//
// Activity goes to the conference that it joins, or makes one. An annotation goes to the
// conference that owns it (instance.Owner). Where none is here that does, it waits: the store
// is asked, if there is one, for a conference that ended earlier; and activity may follow. After
// that it is counted as unattached, and forgotten when an ended conference would be.
//
// # States of a conference
//
// lifecycle: alive → ended when silence or its participants ended it, back to alive with any
// late record, and gone when it became part of another one or was released. A released
// conference is remembered by its span: a record of it is restored from the store first.
//
// coverage: observed when all of its records arrived here; partial when others were released,
// or arrived elsewhere or before this process started; complete when those were read from the
// store. A conference that is partial is restored before it is summarised.
//
// evaluation: idle when nothing may raise an issue; scheduled for a time; reading while its
// records are read from the store; final once it has ended, so that its summary finds nothing
// that was not notified.
package live
