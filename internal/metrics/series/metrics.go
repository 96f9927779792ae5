package series

import "github.com/qosrtc/qos/internal/record/semconv"

// Bucket bounds. They are dense around usual thresholds (such as the label bounds of
// docs/quality.md), so that quantiles near a threshold are precise.
var (
	secondsBounds  = []float64{0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30}
	durationBounds = []float64{10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400}
	mosBounds      = []float64{1, 1.5, 2, 2.3, 2.6, 2.9, 3.2, 3.5, 3.8, 4, 4.2, 4.3, 4.4, 4.5, 4.7}
	lossBounds     = []float64{0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1}
	jitterBounds   = []float64{0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5}
	throughBounds  = []float64{12_500, 31_250, 62_500, 125_000, 187_500, 250_000, 375_000, 625_000, 937_500, 1_250_000, 2_500_000} // 0.1 to 20 Mbit/s
	rttBounds      = []float64{0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1, 2}
)

var boundsOf = map[string][]float64{
	semconv.MetricConferenceDuration: durationBounds, semconv.MetricConferenceMOS: mosBounds,
	semconv.MetricFabricSetup: secondsBounds, semconv.MetricStreamMOS: mosBounds, semconv.MetricStreamLoss: lossBounds,
	semconv.MetricStreamJitter: jitterBounds, semconv.MetricStreamRTT: rttBounds,
	semconv.MetricPreCallRTT: rttBounds, semconv.MetricPreCallLoss: lossBounds, semconv.MetricPreCallThroughput: throughBounds,
}

// Metric is a metric with the bounds of its buckets.
type Metric struct {
	semconv.Metric
	Bounds []float64 // upper bounds of the buckets, ascending; nil: no histogram

	index int // in semconv.Metrics
}

// family identifies metrics that have the same labels and are counted together: an entry holds one
// series of each.
type family uint8

const (
	famConferences family = iota
	famCauses
	famEnded
	famParticipants
	famIssues
	famRaised
	famOpen
	famSetup
	famSetupFailed
	famDisruptions
	famApp
	famOutOfRange
	famStreams
	famStreamSeconds
	famErrors
	famFeedback
	famPreCalls
	famProviders
	famProviderResults
	numFamilies
)

// members are the metrics of each family. Their order is that of the offsets below.
var members = [numFamilies][]string{
	famConferences:     {semconv.MetricConferences},
	famCauses:          {semconv.MetricConferenceCauses},
	famEnded:           {semconv.MetricConferenceDuration, semconv.MetricConferenceMOS},
	famParticipants:    {semconv.MetricParticipants},
	famIssues:          {semconv.MetricIssues},
	famRaised:          {semconv.MetricIssuesRaised},
	famOpen:            {semconv.MetricOpenIssues},
	famSetup:           {semconv.MetricFabricSetup},
	famSetupFailed:     {semconv.MetricFabricSetupFailed},
	famDisruptions:     {semconv.MetricICEDisruptions},
	famApp:             {semconv.MetricMeasurements, semconv.MetricLostFrames},
	famOutOfRange:      {semconv.MetricOutOfRange},
	famStreams:         {semconv.MetricStreamMOS, semconv.MetricStreamLoss, semconv.MetricStreamJitter, semconv.MetricStreamRTT},
	famStreamSeconds:   {semconv.MetricStreamSeconds},
	famErrors:          {semconv.MetricErrors},
	famFeedback:        {semconv.MetricFeedback},
	famPreCalls:        {semconv.MetricPreCallTests},
	famProviders:       {semconv.MetricPreCallProviders},
	famProviderResults: {semconv.MetricPreCallRTT, semconv.MetricPreCallLoss, semconv.MetricPreCallThroughput},
}

// Offsets of metrics in their family.
const (
	endedDuration, endedMOS                        = 0, 1
	appMeasurements, appLostFrames                 = 0, 1
	providerRTT, providerLoss, providerThroughput  = 0, 1, 2
	streamMOS, streamLoss, streamJitter, streamRTT = 0, 1, 2, 3
)

// metrics are the metrics of each family.
var metrics = func() (all [numFamilies][]*Metric) {
	byName := map[string]*Metric{}
	for i, m := range semconv.Metrics {
		byName[m.Name] = &Metric{Metric: m, Bounds: boundsOf[m.Name], index: i}
	}
	for f, names := range members {
		for _, name := range names {
			all[f] = append(all[f], byName[name])
		}
	}
	return all
}()

// location is the location of a metric's series.
type location struct {
	family family
	offset int
}

// locations are the locations of the metrics, in the order of semconv.Metrics.
var locations = func() []location {
	out := make([]location, len(semconv.Metrics))
	for f, list := range metrics {
		for offset, m := range list {
			out[m.index] = location{family(f), offset}
		}
	}
	return out
}()
