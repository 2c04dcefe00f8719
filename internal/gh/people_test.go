package gh

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

func TestRolesAreOrdered(t *testing.T) {
	order := []Role{RoleNone, RoleRead, RoleTriage, RoleWrite, RoleMaintain, RoleAdmin}
	for i, r := range order {
		if got, ok := role(r.String()); !ok || got != r || int(r) != i {
			t.Errorf("%v is read as %v", r, got)
		}
	}
	if _, ok := role("owner"); ok || Role(9).String() == "" {
		t.Error("a role that is none")
	}
}

func TestPermissionsComeFromTheAPI(t *testing.T) {
	f := newFake(t, "workflow")
	f.Update(func(s *ghtest.State) { s.Users = append(s.Users, ghtest.User{Login: "erin", Role: "maintain"}) })
	for user, want := range map[string]Role{
		"alice": RoleAdmin, "erin": RoleMaintain, "bob": RoleWrite, "BOB": RoleWrite, "carol": RoleTriage, "dave": RoleRead,
		"mallory": RoleRead, // everybody may read what is public
		"nobody":  RoleNone,
	} {
		if got, err := f.Permission(ctx, user); err != nil || got != want {
			t.Errorf("%s: %v %v, want %v", user, got, err, want)
		}
	}
	f.Update(func(s *ghtest.State) { s.Repo.Private = true })
	if got, err := f.Permission(ctx, "mallory"); err != nil || got != RoleNone {
		t.Errorf("mallory in private: %v %v", got, err)
	}
}

func TestNamesThatAreNoUsersAskNothing(t *testing.T) {
	f := newFake(t, "workflow")
	for _, user := range []string{"", "a/../alice", "alice?x=1", "alice%2f", "a b", "a\nb", "../../pulls", "-x"} {
		if got, err := f.Permission(ctx, user); !errors.Is(err, ErrInvalid) || got != RoleNone {
			t.Errorf("%q: %v %v", user, got, err)
		}
	}
	if n := len(f.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestARoleCountsWithinItsPermissionOnly(t *testing.T) {
	for _, c := range []struct {
		permission, name string
		want             Role
	}{
		{"write", "maintain", RoleMaintain},
		{"read", "triage", RoleTriage},
		{"write", "security-team", RoleWrite}, // a custom role
		{"read", "admin", RoleRead},           // a custom role with a bold name
		{"read", "maintain", RoleRead},
		{"none", "admin", RoleNone},
		{"admin", "admin", RoleAdmin},
		{"admin", "read", RoleAdmin},
		{"", "admin", RoleNone},
		{"owner", "", RoleNone},
		{"write", "", RoleWrite}, // an old Enterprise Server
	} {
		if got := finer(c.permission, c.name); got != c.want {
			t.Errorf("%s, %s: %v, want %v", c.permission, c.name, got, c.want)
		}
	}
}

func TestAnErrorGivesNobodyARole(t *testing.T) {
	f := newFake(t, "workflow")
	f.Fail("GET /repos/{owner}/{repo}/collaborators/{username}/permission", ghtest.Answer(403, "no"))
	if got, err := f.Permission(ctx, "alice"); !errors.Is(err, ErrForbidden) || got != RoleNone {
		t.Errorf("%v %v", got, err)
	}
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"permission":"admin","role_name":"admin","user":{"login":"alice"}}`)
	})
	if got, err := c.Permission(ctx, "mallory"); err == nil || got != RoleNone {
		t.Errorf("an answer about somebody else: %v %v", got, err)
	}
}
