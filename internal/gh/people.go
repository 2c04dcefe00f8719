package gh

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Role is what somebody may do in a repository. Roles are ordered: compare
// with <.
type Role int

// The roles, from the least. A custom role counts as the built-in one that it
// is made from.
const (
	RoleNone Role = iota
	RoleRead
	RoleTriage
	RoleWrite
	RoleMaintain
	RoleAdmin
)

// String is the role's name as GitHub writes it.
func (r Role) String() string {
	if r < RoleNone || r > RoleAdmin {
		return fmt.Sprintf("role %d", int(r))
	}
	return [...]string{"none", "read", "triage", "write", "maintain", "admin"}[r]
}

// role reads GitHub's name of a built-in role; false for any other.
func role(name string) (Role, bool) {
	for r := RoleNone; r <= RoleAdmin; r++ {
		if r.String() == name {
			return r, true
		}
	}
	return RoleNone, false
}

// login is a name of a user or bot, and nothing that could change a path.
var login = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})(?:\[bot\])?$`)

// Permission asks what a user may do. Somebody who is no collaborator has
// [RoleRead] in a public repository and [RoleNone] in a private one; a user that
// does not exist has [RoleNone].
func (c *Client) Permission(ctx context.Context, user string) (Role, error) {
	o := op{doing: fmt.Sprintf("asking what %s may do in %s", oneLine(user), c.full()), needs: "contents: read"}
	if !login.MatchString(user) {
		return RoleNone, &Error{Doing: o.doing, Message: "this is no user's name", kind: ErrInvalid}
	}
	var answer struct {
		Permission string `json:"permission"`
		RoleName   string `json:"role_name"`
		User       struct {
			Login string `json:"login"`
		} `json:"user"`
	}
	res, err := c.get(ctx, c.path("collaborators/%s/permission", url.PathEscape(user)), &answer)
	if err = c.fail(o, res, err); errors.Is(err, ErrNotFound) {
		return RoleNone, nil
	} else if err != nil {
		return RoleNone, err
	}
	if !strings.EqualFold(answer.User.Login, user) {
		return RoleNone, &Error{Doing: o.doing, Message: "the answer is about somebody else", kind: ErrUnavailable}
	}
	return finer(answer.Permission, answer.RoleName), nil
}

// finer is the role in a permission level, which knows four, and a role's name,
// which may be a custom one. The name counts only within the level: maintain is
// a kind of write, triage a kind of read.
func finer(permission, name string) Role {
	coarse, _ := role(permission)
	switch fine, _ := role(name); {
	case fine == RoleMaintain && coarse == RoleWrite, fine == RoleTriage && coarse == RoleRead:
		return fine
	}
	return coarse
}
