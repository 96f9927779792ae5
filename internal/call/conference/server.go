package conference

// findServers finds media servers that applications do not declare: all connections of several participants have the same
// remote end, and it is no participant with the library. A person without the library to whom all others connect counts as one.
func (c *Conference) findServers() {
	people := map[string]bool{}
	only := make(map[*participant]string, len(c.participants)) // result of onlyRemote
	users := map[string]map[string]bool{}                      // by remote end
	for _, p := range c.participants {
		for _, name := range append(p.renames.all(p.user), p.user) {
			people[name] = true
		}
		if end := p.onlyRemote(); end != "" {
			only[p] = end
			if users[end] == nil {
				users[end] = map[string]bool{}
			}
			users[end][p.user] = true
		}
	}
	for _, p := range c.participants {
		end := only[p]
		isServer := end != "" && !people[end] && len(users[end]) > 1
		for _, f := range p.fabrics {
			f.server = f.declaredServer || isServer
		}
	}
}

// onlyRemote returns the remote end of all the participant's connections; empty if there are several.
func (p *participant) onlyRemote() (only string) {
	for _, f := range p.fabrics {
		name, _ := f.renames.current(f.remoteUser, f.remoteAlias)
		if name == "" || only != "" && name != only {
			return ""
		}
		only = name
	}
	return only
}
