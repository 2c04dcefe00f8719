package ghtest

import "slices"

// commit finds a node of the graph.
func (s *Server) commit(sha string) (Commit, bool) {
	i := slices.IndexFunc(s.state.Commits, func(c Commit) bool { return c.SHA == sha })
	if i < 0 {
		return Commit{}, false
	}
	return s.state.Commits[i], true
}

// ancestors are a commit and all before it, nearest first.
func (s *Server) ancestors(sha string) []string {
	var out []string
	for queue := []string{sha}; len(queue) > 0; queue = queue[1:] {
		if slices.Contains(out, queue[0]) {
			continue
		}
		out = append(out, queue[0])
		if c, found := s.commit(queue[0]); found {
			queue = append(queue, c.Parents...)
		}
	}
	return out
}

// contains tells whether a commit is reached from another, or is it.
func (s *Server) contains(from, sha string) bool { return slices.Contains(s.ancestors(from), sha) }
