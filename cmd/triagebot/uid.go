package main

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
)

// The values of the input test-user that are no name.
const (
	userAuto = "auto"
	userNone = "none"
)

// testUser is the account of the image that tests run as.
const testUser = "triage"

// nobody is the number that systems give to an account that owns nothing.
const nobody = 65534

// account is who a process runs as.
type account struct{ uid, gid int }

// chooseAccount reads the input test-user. It is false when the process stays
// who it is: it is not root and cannot change that, or it was told to.
func chooseAccount(input string, root bool, lookup func(string) (*user.User, error)) (account, bool, error) {
	switch {
	case input == userNone, !root && input == userAuto:
		return account{}, false, nil
	case !root:
		return account{}, false, fmt.Errorf("reading input test-user: only root can run tests as %q; leave it out", input)
	}
	if input == userAuto {
		acc, err := accountOf(testUser, lookup)
		if err != nil {
			acc = account{nobody, nobody}
		}
		return acc, true, nil
	}
	uid, gid, ok := strings.Cut(input, ":")
	if n, err := strconv.Atoi(uid); err == nil {
		acc := account{n, n}
		if ok {
			if acc.gid, err = strconv.Atoi(gid); err != nil {
				return account{}, false, fmt.Errorf("reading input test-user: %q is not UID:GID", input)
			}
		}
		return checked(acc)
	}
	acc, err := accountOf(input, lookup)
	if err != nil {
		return account{}, false, fmt.Errorf("reading input test-user: there is no user %q here", input)
	}
	return checked(acc)
}

func accountOf(name string, lookup func(string) (*user.User, error)) (account, error) {
	u, err := lookup(name)
	if err != nil {
		return account{}, err
	}
	uid, uerr := strconv.Atoi(u.Uid)
	gid, gerr := strconv.Atoi(u.Gid)
	return account{uid, gid}, errors.Join(uerr, gerr)
}

// checked refuses root: then nothing would be hidden from the tests.
func checked(acc account) (account, bool, error) {
	if acc.uid <= 0 || acc.gid <= 0 {
		return account{}, false, fmt.Errorf("reading input test-user: %d:%d is root, or no user: write none if tests are to see all that the action sees", acc.uid, acc.gid)
	}
	return acc, true, nil
}
