package series

func (b *batch) counts() *entry {
	if b.source.counts == nil {
		b.source.counts = b.entry(famApp, values{b.app()})
	}
	return b.source.counts
}

func (b *batch) entry(f family, v values) *entry {
	e, displaced := b.set.families[f].entry(f, v, b.set.cfg.MaxSeries, b.nowMs)
	if displaced {
		for _, m := range metrics[f] {
			b.left.displaced(m.Name)
		}
	}
	return e
}

func (b *batch) overflow(metric string, records int64) {
	if b.left.Overflow == nil {
		b.left.Overflow = map[string]int64{}
	}
	b.left.Overflow[metric] += records
}

func (l *Left) displaced(metric string) {
	if l.Displaced == nil {
		l.Displaced = map[string]int64{}
	}
	l.Displaced[metric]++
}

// increment adds to the counter of a family of one.
func (b *batch) increment(f family, v values, n float64) { b.add(b.entry(f, v), f, 0, n) }

// add adds to a counter, n not negative, or to a gauge.
func (b *batch) add(e *entry, f family, offset int, n float64) {
	e = e.lock()
	defer e.mu.Unlock()
	b.touch(e, f, offset, 1)
	p := &e.points[offset]
	p.value += n
	if f != famOpen { // a gauge has no exemplars
		p.put(&b.exemplar, n, 0)
	}
}

// put adds a value to a histogram.
func (b *batch) put(e *entry, f family, offset int, v float64) {
	e = e.lock()
	defer e.mu.Unlock()
	b.putLocked(e, f, offset, v)
}

func (b *batch) putLocked(e *entry, f family, offset int, v float64) {
	b.touch(e, f, offset, 1)
	p := &e.points[offset]
	bucket := bucketOf(metrics[f][offset].Bounds, v)
	p.counts[bucket]++
	p.value += v
	p.put(&b.exemplar, v, bucket)
}

func (b *batch) touch(e *entry, f family, offset int, records int64) {
	e.last = max(e.last, b.age)
	if e.overflow {
		b.overflow(metrics[f][offset].Name, records)
	}
}

// measurement counts a measurement, which closeSource adds: most records are measurements, of few sources.
func (b *batch) measurement() {
	b.measurements++
	if b.exemplar.AtMs >= b.measured.AtMs {
		b.measured = b.exemplar
	}
}

// closeSource adds the measurements of the current source.
func (b *batch) closeSource() {
	if b.measurements == 0 {
		return
	}
	e := b.counts().lock()
	defer e.mu.Unlock()
	b.touch(e, famApp, appMeasurements, int64(b.measurements))
	p := &e.points[appMeasurements]
	p.value += b.measurements
	p.put(&b.measured, 1, 0)
	b.measurements, b.measured = 0, Exemplar{}
}
