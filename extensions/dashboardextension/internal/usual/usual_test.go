package usual

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// calls returns n calls with one value each.
func calls(n int, attribute string, values ...string) (out []Call) {
	for range n {
		out = append(out, Call{attribute: values})
	}
	return out
}

func join(all ...[]Call) (out []Call) {
	for _, one := range all {
		out = append(out, one...)
	}
	return out
}

// A value is usual from 60 % of at least five calls on; calls without a value of the attribute do not count.
func TestOf(t *testing.T) {
	f := func(calls []Call, want ...Value) {
		t.Helper()
		require.Equal(t, append([]Value{}, want...), Of(calls, []string{"network", "site"}))
	}
	f(nil)
	f(calls(4, "network", "wifi"))
	f(calls(5, "network", "wifi"), Value{"network", "wifi", 5, 5})
	f(join(calls(3, "network", "wifi"), calls(2, "network", "cellular")), Value{"network", "wifi", 3, 5})
	f(join(calls(59, "network", "wifi"), calls(41, "network", "cellular")))
	f(join(calls(6, "network", "wifi"), calls(4, "network", "cellular"), calls(90, "site", "oslo")), Value{"network", "wifi", 6, 10}, Value{"site", "oslo", 90, 90})
	f(join(calls(4, "network", "wifi", "vpn"), calls(1, "network", "wifi"), calls(3, "other", "x")), Value{"network", "wifi", 5, 5}, Value{"network", "vpn", 4, 5})
	f(calls(5, "network", "b", "a"), Value{"network", "a", 5, 5}, Value{"network", "b", 5, 5})
}

func TestDifferences(t *testing.T) {
	f := func(call Call, earlier []Call, want ...Difference) {
		t.Helper()
		require.Equal(t, append([]Difference{}, want...), Differences(call, earlier, []string{"network", "site"}))
	}
	wifi := calls(5, "network", "wifi")
	f(Call{"network": {"cellular"}}, calls(4, "network", "wifi"))
	f(Call{"network": {"wifi"}}, wifi)
	f(Call{"site": {"oslo"}}, wifi)
	f(Call{"network": {"cellular"}}, wifi, Difference{"network", []string{"cellular"}, []string{"wifi"}})
	f(Call{"network": {"cellular", "wifi"}}, wifi, Difference{"network", []string{"cellular"}, []string{"wifi"}})
	// A value that is not usual is no news where a usual one is present.
	f(Call{"network": {"cellular", "wifi"}}, join(wifi, calls(1, "network", "cellular")))
	f(Call{"network": {"cellular"}}, join(wifi, calls(1, "network", "cellular")), Difference{"network", []string{"cellular"}, []string{"wifi"}})
	// Without a usual value only one that was never there is different.
	mixed := join(calls(3, "network", "wifi"), calls(3, "network", "cellular"))
	f(Call{"network": {"cellular"}}, mixed)
	f(Call{"network": {"ethernet"}}, mixed, Difference{"network", []string{"ethernet"}, []string{}})
}

func TestAdd(t *testing.T) {
	c := Call{}
	for _, v := range []string{"b", "", "a", "b"} {
		c.Add("x", v)
	}
	require.Equal(t, Call{"x": {"b", "a"}}, c)
}
