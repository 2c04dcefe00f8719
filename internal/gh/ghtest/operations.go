package ghtest

// need is a permission of a token that an operation asks for.
type need struct {
	permission, level string
	pullOnly          bool // suffices only when the issue is a pull request
}

// operation serves one METHOD and path of the description. One of the needs
// suffices. They are what GitHub documents for fine-grained tokens, private
// repositories included; a public one is laxer about reading.
type operation struct {
	needs  []need
	handle func(*call) reply
}

func reads(permission string) []need  { return []need{{permission: permission, level: "read"}} }
func writes(permission string) []need { return []need{{permission: permission, level: "write"}} }

// discusses is the need of what issues and pull requests share.
func discusses(level string) []need {
	return []need{{permission: "issues", level: level}, {permission: "pull_requests", level: level, pullOnly: true}}
}

var (
	anyone = []need{{permission: "nothing"}}
	theApp = []need{{permission: "app"}}
)

const repoPath = "/repos/{owner}/{repo}"

var operations map[string]operation

func init() { // the handlers reach the table themselves
	operations = map[string]operation{
		"GET " + repoPath + "/pulls":                                   {reads("pull_requests"), (*call).listPulls},
		"GET " + repoPath + "/pulls/{pull_number}":                     {reads("pull_requests"), (*call).getPull},
		"GET " + repoPath + "/pulls/{pull_number}/files":               {reads("pull_requests"), (*call).listPullFiles},
		"GET " + repoPath + "/commits/{commit_sha}/pulls":              {reads("pull_requests"), (*call).pullsOfCommit},
		"GET " + repoPath + "/issues/{issue_number}/comments":          {discusses("read"), (*call).listComments},
		"POST " + repoPath + "/issues/{issue_number}/comments":         {discusses("write"), (*call).createComment},
		"GET " + repoPath + "/issues/comments/{comment_id}":            {discusses("read"), (*call).getComment},
		"PATCH " + repoPath + "/issues/comments/{comment_id}":          {discusses("write"), (*call).editComment},
		"DELETE " + repoPath + "/issues/comments/{comment_id}":         {discusses("write"), (*call).deleteComment},
		"GET " + repoPath + "/issues/comments/{comment_id}/reactions":  {discusses("read"), (*call).listReactions},
		"POST " + repoPath + "/issues/comments/{comment_id}/reactions": {discusses("write"), (*call).createReaction},
	}
}
