package ghtest

import (
	"encoding/json"
	"fmt"

	"github.com/getkin/kin-openapi/openapi3"
)

// graphqlPath is where GraphQL is; on an Enterprise Server it is /api/graphql.
const graphqlPath = "/graphql"

// graphqlItem describes the one query that REST has no word for: whose token is
// this? GitHub's OpenAPI description leaves GraphQL out, so this is ours. Any
// other query is a breach.
const graphqlItem = `{"post": {
	"operationId": "ours/graphql-viewer",
	"requestBody": {"required": true, "content": {"application/json": {"schema": {
		"type": "object", "required": ["query"], "additionalProperties": false,
		"properties": {"query": {"type": "string", "pattern": "^\\s*(query)?\\s*\\{\\s*viewer\\s*\\{\\s*login\\s*\\}\\s*\\}\\s*$"}}
	}}}},
	"responses": {"200": {"description": "Response", "content": {"application/json": {"schema": {
		"type": "object", "properties": {"data": {"type": "object", "properties": {"viewer": {"type": "object", "properties": {"login": {"type": "string"}}}}}}
	}}}}}
}}`

// addGraphQL adds the query to the description.
func addGraphQL(doc *openapi3.T) error {
	var item openapi3.PathItem
	if err := json.Unmarshal([]byte(graphqlItem), &item); err != nil {
		return fmt.Errorf("reading the description of GraphQL: %w", err)
	}
	doc.Paths.Set(graphqlPath, &item)
	return nil
}

// viewer answers with the user behind a token; bots are users to GraphQL.
func (c *call) viewer() reply {
	return ok(obj{"data": obj{"viewer": obj{"login": c.token.User}}})
}
