package ghtest

import "slices"

func (s *Server) issue(n int) (*Issue, bool) {
	i := slices.IndexFunc(s.state.Issues, func(is Issue) bool { return is.Number == n })
	if i < 0 {
		return nil, false
	}
	return &s.state.Issues[i], true
}
