package ghtest

import "net/http"

// authorizeApp checks the JWT of an App. The caller holds the lock.
func (c *call) authorizeApp(string) (reply, bool) {
	return failed(http.StatusUnauthorized, "A JSON web token could not be decoded"), false
}
