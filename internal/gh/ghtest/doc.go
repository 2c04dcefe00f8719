// Package ghtest is a GitHub that lives in memory, for tests.
//
// It is strict both ways. Every request and every reply is checked against
// GitHub's own OpenAPI description, cut to the operations served here
// (testdata/openapi.json, made by `make refresh-openapi`); errors that the
// description does not declare are checked against its basic-error. An unknown
// path, an undeclared query parameter or body field, a missing token, an
// Authorization header sent to a download host, and a fault that nothing met
// all fail the test.
//
// Replies are GitHub's own examples with the facts of the [State] laid over
// them, so their shape is not our reading of the documentation.
//
// The API answers at [Server.URL] as github.com does and at
// [Server.EnterpriseURL] as GitHub Enterprise Server does. It is an HTTP server
// like any other, so a command in another process can use it too;
// cmd/fakegithub serves a state from a file.
//
// # Limits
//
// A token needs the permission that GitHub documents for private repositories;
// a public one is laxer about reading. Secondary rate limits come only from a
// [Fault]. The wording of errors, the 65,536 characters of a comment, the
// minute that a link is good for and the month in which a run can be run again
// are not in the description: they are from GitHub's documentation and from
// what was seen. GraphQL is not in it either; one query is answered
// (graphql.go). Where GitHub is seen to do what the description denies, the
// description is amended (validate.go). A field of a reply that the description
// does not know passes, since its own examples have some.
package ghtest
