package protocol

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// statsOracle is a stats frame as encoding/json sees it: slow, and written by others.
type statsOracle struct {
	Seq        float64          `json:"seq"`
	At         float64          `json:"at"`
	Fabric     float64          `json:"fabric"`
	IntervalMs float64          `json:"intervalMs"`
	Rows       [][]any          `json:"rows"`
	Keyed      []map[string]any `json:"keyed"`
}

// cell turns a value of encoding/json into ours.
func cell(v any) Value {
	switch v := v.(type) {
	case float64:
		return Value{Kind: Number, Num: v}
	case string:
		return Value{Kind: String, Str: v}
	case bool:
		if v {
			return Value{Kind: Bool, Num: 1}
		}
		return Value{Kind: Bool}
	}
	return Value{}
}

// checkStatsOracle makes sure that the hand-written path and encoding/json read the same.
func checkStatsOracle(tb testing.TB, d *Decoder, wire []byte, got *Stats) {
	tb.Helper()
	// encoding/json folds the case of names; a map does not.
	var members map[string]json.RawMessage
	require.NoError(tb, json.Unmarshal(wire, &members))
	var want statsOracle
	for name, v := range map[string]any{
		"seq": &want.Seq, "at": &want.At, "fabric": &want.Fabric, "intervalMs": &want.IntervalMs,
		"rows": &want.Rows, "keyed": &want.Keyed,
	} {
		if raw, ok := members[name]; ok {
			require.NoError(tb, json.Unmarshal(raw, v))
		}
	}
	require.Equal(tb, want.Seq, float64(got.Seq))
	require.Equal(tb, want.At, float64(got.At))
	require.Equal(tb, want.Fabric, float64(got.Fabric.Fabric))
	require.Equal(tb, want.IntervalMs, got.IntervalMs)
	require.Len(tb, got.Records, len(want.Rows)+len(want.Keyed))
	for i, row := range want.Rows {
		require.Equal(tb, d.sets[int(row[0].(float64))].Names, got.Records[i].Columns.Names)
		require.Len(tb, got.Records[i].Values, len(row)-1)
		for j, v := range row[1:] {
			require.Equal(tb, cell(v), got.Records[i].Values[j])
		}
	}
	for i, row := range want.Keyed {
		checkKeyedOracle(tb, row, got.Records[i])
	}
}

func checkKeyedOracle(tb testing.TB, row map[string]any, got Record) {
	tb.Helper()
	require.Equal(tb, row["statsType"], got.Columns.StatsType)
	mediaType, _ := row["mediaType"].(string)
	require.Equal(tb, mediaType, got.Columns.MediaType)
	known := 0
	for name := range row {
		if MeasureNamed(name) != UnknownMeasure {
			known++
		}
	}
	require.Len(tb, got.Values, known)
	for j, name := range got.Columns.Names {
		require.Equal(tb, cell(row[name]), got.Values[j], name)
		require.Equal(tb, MeasureNamed(name), got.Columns.Measures[j])
	}
}
