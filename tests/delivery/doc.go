// Package delivery proves on the real binary what docs/delivery.md promises: what was
// acknowledged stands in the store exactly once, whatever fails. Clients under load keep an
// account of every frame (tests/harness), a fault is let loose, and then the account of the
// clients, the collector's metrics and the store must balance to zero. The faults: kills at
// random moments, restarts, a disk that fills up, networks that fail in a dozen ways,
// frames sent twice, clocks that step, numbers that jump, wrong resumes, clients that never
// listen.
//
// QOS_COLLECTOR names a binary to use instead of building one. QOS_DELIVERY_SEED repeats a
// run's dice (not the moments at which the operating system does its part) and
// QOS_DELIVERY_TIMES makes each load as many times longer. A full disk needs the right to
// mount. Run them with -count=1: the test cache does not know what the binary was built from.
package delivery
