package protocol

import (
	"bytes"
	"strconv"
)

// appendFrame returns a client frame as a client sends it, stats in rows. It does not check
// limits.
func appendFrame(frame Frame) []byte {
	var dst []byte
	switch f := frame.(type) {
	case *Hello:
		return appendHello(dst, f)
	case *Fabric:
		return begin(dst, TypeFabric).int("fabric", int64(f.Fabric)).text("conferenceID", f.ConferenceID).
			int("addedAt", f.AddedAt).userID("remoteUserID", f.RemoteUserID).text("fabricUsage", f.FabricUsage).
			optionalText("remoteEndpointType", f.RemoteEndpointType).
			optionalText("fabricTransmissionDirection", f.FabricTransmissionDirection).end()
	case *Columns:
		return begin(dst, TypeColumns).int("set", int64(f.Set)).text("statsType", f.StatsType).
			optionalText("mediaType", f.MediaType).texts("names", f.Names).end()
	case *Stats:
		return appendStats(dst, f)
	case *Event:
		return appendEvent(dst, f)
	case *ErrorReport:
		return appendError(dst, f)
	case *SDPPart:
		return begin(dst, TypeSDP).header(f.Header).scope(f.Scope).seq("error", f.Error).text("field", f.Field).
			int("offset", int64(f.Offset)).text("text", f.Text).end()
	case *Feedback:
		return begin(dst, TypeFeedback).header(f.Header).scope(f.Scope).userID("userID", f.UserID).
			int("overall", int64(f.Overall)).optionalInt("audio", int64(f.Audio)).optionalInt("video", int64(f.Video)).
			optionalInt("screen", int64(f.Screen)).optionalText("comment", f.Comment).end()
	case *Log:
		return begin(dst, TypeLog).header(f.Header).scope(f.Scope).text("text", f.Text).end()
	case *PreCall:
		return appendPreCall(dst, f)
	case *Skip:
		return appendSkip(dst, f)
	case *Bye:
		return AppendBye(dst, *f)
	}
	return dst
}

func appendError(dst []byte, f *ErrorReport) []byte {
	return begin(dst, TypeError).header(f.Header).scope(f.Scope).text("function", f.Function).
		optionalText("name", f.Name).optionalText("message", f.Message).optionalText("code", f.Code).
		optionalText("constraintName", f.ConstraintName).optionalText("stack", f.Stack).
		optionalText("details", f.Details).optionalText("localSDP", f.LocalSDP).optionalText("remoteSDP", f.RemoteSDP).
		optionalInt("localSDPBytes", int64(f.LocalSDPBytes)).optionalInt("remoteSDPBytes", int64(f.RemoteSDPBytes)).end()
}

// header writes the members of a numbered frame.
func (o object) header(h Header) object { return o.seq("seq", h.Seq).int("at", h.At) }

// scope writes what a frame belongs to.
func (o object) scope(s Scope) object {
	if s.Fabric != nil {
		return o.int("fabric", int64(s.Fabric.Fabric))
	}
	return o.text("conferenceID", s.ConferenceID).int("conferenceAt", s.ConferenceAt)
}

// userID writes the short form where it says the same.
func (o object) userID(name string, u UserID) object {
	if u.Name == u.Alias {
		return o.text(name, u.Name)
	}
	o = appendText(append(o.name(name), `{"userName":`...), u.Name)
	return append(appendText(append(o, `,"aliasName":`...), u.Alias), '}')
}

func (o object) texts(name string, values []string) object {
	o = append(o.name(name), '[')
	for i, v := range values {
		if i > 0 {
			o = append(o, ',')
		}
		o = appendText(o, v)
	}
	return append(o, ']')
}

func appendHello(dst []byte, h *Hello) []byte {
	o := append(begin(dst, TypeHello).name("versions"), '[')
	for i, v := range h.Versions {
		if i > 0 {
			o = append(o, ',')
		}
		o = strconv.AppendInt(o, int64(v), 10)
	}
	o = append(o, ']').text("token", h.Token).text("session", h.Session).seq("acked", h.Acked).int("at", h.At).
		optionalText("library", h.Library).optionalText("userAgent", h.UserAgent).
		optionalText("applicationVersion", h.ApplicationVersion).optionalText("siteID", h.SiteID)
	if h.AdditionalIDs == nil {
		return o.end()
	}
	o = append(o.name("additionalIDs"), '{')
	for _, key := range AdditionalIDKeys {
		v, ok := h.AdditionalIDs[key]
		if !ok {
			continue
		}
		if o[len(o)-1] != '{' {
			o = append(o, ',')
		}
		o = appendText(append(appendText(o, key), ':'), v)
	}
	return append(o, "}}"...)
}

func appendStats(dst []byte, f *Stats) []byte {
	o := begin(dst, TypeStats).header(f.Header).int("fabric", int64(f.Fabric.Fabric))
	o = append(appendFloat(o.name("intervalMs"), f.IntervalMs), `,"rows":[`...)
	for i, r := range f.Records {
		if i > 0 {
			o = append(o, ',')
		}
		o = strconv.AppendInt(append(o, '['), int64(r.Columns.Set), 10)
		for _, v := range r.Values {
			o = v.append(append(o, ','))
		}
		o = append(o, ']')
	}
	return append(o, "]}"...)
}

// append writes a cell of a row.
func (v Value) append(dst []byte) []byte {
	switch v.Kind {
	case Number:
		return appendFloat(dst, v.Num)
	case String:
		return appendText(dst, v.Str)
	case Bool:
		return strconv.AppendBool(dst, v.Num != 0)
	case Null:
	}
	return append(dst, "null"...)
}

func appendEvent(dst []byte, e *Event) []byte {
	o := begin(dst, TypeEvent).header(e.Header).scope(e.Scope).text("event", e.Event)
	if e.Data != nil {
		o = append(o.name("data"), e.Data...)
	}
	return o.end()
}

func appendPreCall(dst []byte, p *PreCall) []byte {
	o := begin(dst, TypePreCall).header(p.Header).text("trigger", p.Trigger).text("status", p.Status).
		optionalText("reason", p.Reason).bool("interrupted", p.Interrupted).bool("mediaConnectivity", p.MediaConnectivity).
		optionalFloat("rttMs", p.RTTMs).optionalFloat("lossFraction", p.LossFraction).optionalFloat("throughputBps", p.ThroughputBps).
		optionalText("networkType", p.NetworkType).optionalInt("bytesSent", p.BytesSent).optionalFloat("durationMs", &p.DurationMs)
	return appendProviders(o, p.Providers).end()
}

func appendProviders(o object, providers []PreCallProvider) object {
	if providers == nil {
		return o
	}
	o = append(o.name("providers"), '[')
	for i := range providers {
		if i > 0 {
			o = append(o, ',')
		}
		o = appendProvider(o, &providers[i])
	}
	return append(o, ']')
}

func appendConfigurationRequest(r *ConfigurationRequest) []byte {
	o := begin(nil, TypeConfiguration).text("token", r.Token).optionalText("siteID", r.SiteID).optionalText("networkType", r.NetworkType)
	if t := r.PreCall; t != nil {
		inner := appendProviders(object(nil).optionalFloat("rttMs", t.RTTMs).optionalFloat("lossFraction", t.LossFraction).
			optionalFloat("throughputBps", t.ThroughputBps), t.Providers)
		o = append(o.name("preCall"), '{')
		o = append(o, bytes.TrimPrefix(inner, []byte{','})...)
		o = object(o.end())
	}
	return o.end()
}

func appendProvider(o object, p *PreCallProvider) object {
	o = object(appendText(append(o, `{"provider":`...), p.Provider)).bool("acceptable", p.Acceptable).
		optionalText("reason", p.Reason).optionalFloat("rttMs", p.RTTMs).optionalFloat("jitterMs", p.JitterMs).optionalFloat("lossFraction", p.LossFraction).
		optionalFloat("throughputBps", p.ThroughputBps)
	if p.Transports == nil {
		return o.end()
	}
	o = append(o.name("transports"), '[')
	for i, t := range p.Transports {
		if i > 0 {
			o = append(o, ',')
		}
		o = object(appendText(append(o, `{"relayProtocol":`...), t.RelayProtocol)).bool("connected", t.Connected).
			optionalFloat("connectMs", t.ConnectMs).optionalText("error", t.Error).end()
	}
	return append(o, ']').end()
}

// optionalFloat leaves out a nil.
func (o object) optionalFloat(name string, v *float64) object {
	if v == nil {
		return o
	}
	return appendFloat(o.name(name), *v)
}

func appendSkip(dst []byte, f *Skip) []byte {
	o := begin(dst, TypeSkip).header(f.Header).seq("from", f.From)
	o = append(o.name("lost"), '[')
	for i, l := range f.Lost {
		if i > 0 {
			o = append(o, ',')
		}
		fabric := 0
		if l.Fabric != nil {
			fabric = l.Fabric.Fabric
		}
		o = strconv.AppendInt(append(o, `{"fabric":`...), int64(fabric), 10)
		o = o.int("stats", int64(l.Stats)).int("events", int64(l.Events)).end()
	}
	return append(o, "]}"...)
}
