package ghtest

import (
	"net/http"
	"slices"
	"strings"
)

// defaultLimit is the hourly primary limit of a user's token.
const defaultLimit = 5000

// ReadOnly are the permissions of a workflow run from a fork or of Dependabot.
func ReadOnly() map[string]string {
	return map[string]string{"actions": "read", "checks": "read", "contents": "read", "issues": "read", "pull_requests": "read"}
}

// ReadWrite are the permissions of a workflow that may do all that is served here.
func ReadWrite() map[string]string {
	return map[string]string{"actions": "write", "checks": "write", "contents": "write", "issues": "write", "pull_requests": "write"}
}

// grants tells whether a token has a permission; "write" includes "read". Both
// pull_requests and the pull-requests of workflow files are understood.
func (t *Token) grants(permission, level string) bool {
	if permission == "metadata" && level == "read" {
		return true
	}
	for name, has := range t.Permissions {
		if strings.ReplaceAll(name, "-", "_") == permission && (has == level || has == "write" && level == "read") {
			return true
		}
	}
	return false
}

func (t *Token) limit() int {
	if t.Limit > 0 {
		return t.Limit
	}
	return defaultLimit
}

// secret takes the credential out of the Authorization header.
func secret(h http.Header) (string, bool) {
	scheme, value, ok := strings.Cut(h.Get("Authorization"), " ")
	if !ok || !slices.Contains([]string{"bearer", "token"}, strings.ToLower(scheme)) {
		return "", false
	}
	return value, true
}

// identify looks the token up and names it in the journal.
func (c *call) identify() {
	value, has := secret(c.r.Header)
	if !has {
		return
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.entry.Token = "?"
	for _, tokens := range [][]Token{c.s.state.Tokens, c.s.issued} {
		for i := range tokens {
			if tokens[i].Secret() == value {
				c.token, c.entry.Token = &tokens[i], tokens[i].Name
			}
		}
	}
	if c.token == nil && strings.Count(value, ".") == 2 {
		c.entry.Token = "app"
	}
}

// authorize refuses a call whose credential does not suffice. The caller holds the lock.
func (c *call) authorize(op operation) (reply, bool) {
	value, has := secret(c.r.Header)
	switch {
	case !has && op.needs[0].permission == "nothing":
		return reply{}, true
	case !has:
		refuse("no token was sent")
	case op.needs[0].permission == "app":
		return c.authorizeApp(value)
	case c.token == nil && c.entry.Token == "app":
		return failed(http.StatusUnauthorized, "A JSON web token could not be decoded"), false
	case c.token == nil, !c.token.Expires.IsZero() && !c.s.now().Before(c.token.Expires):
		return failed(http.StatusUnauthorized, "Bad credentials"), false
	}
	c.sameRepo()
	for _, n := range op.needs {
		if n.permission == "nothing" || c.token.grants(n.permission, n.level) && (!n.pullOnly || c.onPull()) {
			return reply{}, true
		}
	}
	return failed(http.StatusForbidden, "Resource not accessible by integration"), false
}

// sameRepo refuses a request about a repository that the test did not speak of:
// answering 404 would let a wrong path pass for "not there".
func (c *call) sameRepo() {
	owner, has := c.vars["owner"]
	if !has {
		return
	}
	if _, known := c.repo(); !known {
		refuse("repository %s/%s is not in the state", owner, c.vars["repo"])
	}
}

// repo is the repository of the path.
func (c *call) repo() (Repo, bool) {
	for _, r := range append([]Repo{c.s.state.Repo}, c.s.state.Forks...) {
		if strings.EqualFold(r.Owner, c.vars["owner"]) && strings.EqualFold(r.Name, c.vars["repo"]) {
			return r, true
		}
	}
	return Repo{}, false
}

// spend counts a call against the primary rate limit. The caller holds the lock.
func (c *call) spend() (reply, bool) {
	if c.token == nil || c.op == "GET /rate_limit" {
		return reply{}, true
	}
	if c.token.Used >= c.token.limit() {
		return failed(http.StatusForbidden, "API rate limit exceeded for user ID 1."), false
	}
	c.token.Used++
	return reply{}, true
}

// refund takes back what an unchanged answer cost: GitHub does not count 304.
func (c *call) refund() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.token != nil {
		c.token.Used--
	}
}
