package gh

import "context"

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
	return [...]string{"none", "read", "triage", "write", "maintain", "admin"}[r]
}

// Permission asks what a user may do. Somebody who is no collaborator has
// [RoleRead] in a public repository and [RoleNone] in a private one; a user that
// does not exist has [RoleNone].
func (c *Client) Permission(ctx context.Context, user string) (Role, error) {
	return RoleNone, errNotBuilt
}
