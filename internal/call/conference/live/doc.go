// Package live is the registry of live conferences, and of ended ones that may still be
// revised. It assigns records to conferences by the rules of package instance, detects the end
// of conferences, emits their summaries and notifies of issues. Package conference computes the
// summaries. Like that package it is pure: time is an argument.
//
// # Assignment of records
//
// An activity record joins a conference or starts one. An annotation is attached to the
// conference that owns it (instance.Owner). If the Set does not have that conference, the
// annotation waits for one that ended earlier, which is read from the store if there is one, and
// for activity that may follow. Then it is counted as unattached, and dropped after the time for
// which the Set keeps an ended conference.
//
// # States of a conference
//
// lifecycle: alive → ended by silence or by its participants; → alive again with any late
// record; → removed when it was merged into another conference or released. The Set keeps the
// span of a released conference, and restores it from the store with the next record of it.
//
// coverage: observed when all of its records arrived here; partial when others were released,
// or arrived elsewhere or before this process started; complete when those were read from the
// store. A partial conference is restored before it is summarised.
//
// evaluation: idle when no issue can be raised; scheduled for a time; reading while its records
// are read from the store; final after its end, so that each issue of the summary has a
// notification.
package live
