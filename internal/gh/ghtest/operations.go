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
		"GET /app": {theApp, (*call).getApp},
		"POST /app/installations/{installation_id}/access_tokens": {theApp, (*call).createToken},
		"GET /rate_limit":                   {anyone, (*call).rateLimit},
		"GET /user":                         {anyone, (*call).getMe},
		"GET /users/{username}":             {anyone, (*call).getUser},
		"POST " + graphqlPath:               {reads("metadata"), (*call).viewer},
		"GET " + repoPath:                   {reads("metadata"), (*call).getRepo},
		"GET " + repoPath + "/installation": {theApp, (*call).getInstallation},
		"GET " + repoPath + "/collaborators/{username}/permission": {reads("metadata"), (*call).permission},

		"GET " + repoPath + "/contents/{path}":    {reads("contents"), (*call).getContents},
		"GET " + repoPath + "/git/ref/{ref}":      {reads("contents"), (*call).getRef},
		"GET " + repoPath + "/commits/{ref}":      {reads("contents"), (*call).getCommit},
		"GET " + repoPath + "/compare/{basehead}": {reads("contents"), (*call).compare},
		"POST " + repoPath + "/dispatches":        {writes("contents"), (*call).dispatchRepository},

		"GET " + repoPath + "/pulls":                      {reads("pull_requests"), (*call).listPulls},
		"GET " + repoPath + "/pulls/{pull_number}":        {reads("pull_requests"), (*call).getPull},
		"GET " + repoPath + "/pulls/{pull_number}/files":  {reads("pull_requests"), (*call).listPullFiles},
		"GET " + repoPath + "/commits/{commit_sha}/pulls": {reads("pull_requests"), (*call).pullsOfCommit},

		"GET " + repoPath + "/issues":                                  {reads("issues"), (*call).listIssues},
		"POST " + repoPath + "/issues":                                 {writes("issues"), (*call).createIssue},
		"GET " + repoPath + "/issues/{issue_number}":                   {discusses("read"), (*call).getIssue},
		"PATCH " + repoPath + "/issues/{issue_number}":                 {discusses("write"), (*call).editIssue},
		"POST " + repoPath + "/issues/{issue_number}/labels":           {discusses("write"), (*call).addLabels},
		"GET " + repoPath + "/issues/{issue_number}/comments":          {discusses("read"), (*call).listComments},
		"POST " + repoPath + "/issues/{issue_number}/comments":         {discusses("write"), (*call).createComment},
		"GET " + repoPath + "/issues/comments/{comment_id}":            {discusses("read"), (*call).getComment},
		"PATCH " + repoPath + "/issues/comments/{comment_id}":          {discusses("write"), (*call).editComment},
		"DELETE " + repoPath + "/issues/comments/{comment_id}":         {discusses("write"), (*call).deleteComment},
		"GET " + repoPath + "/issues/comments/{comment_id}/reactions":  {discusses("read"), (*call).listReactions},
		"POST " + repoPath + "/issues/comments/{comment_id}/reactions": {discusses("write"), (*call).createReaction},

		"GET " + repoPath + "/commits/{ref}/check-runs":              {reads("checks"), (*call).listChecks},
		"GET " + repoPath + "/commits/{ref}/check-suites":            {reads("checks"), (*call).listSuites},
		"POST " + repoPath + "/check-runs":                           {writes("checks"), (*call).createCheck},
		"GET " + repoPath + "/check-runs/{check_run_id}":             {reads("checks"), (*call).getCheck},
		"PATCH " + repoPath + "/check-runs/{check_run_id}":           {writes("checks"), (*call).updateCheck},
		"GET " + repoPath + "/check-runs/{check_run_id}/annotations": {reads("checks"), (*call).listAnnotations},

		"GET " + repoPath + "/actions/runs":                                         {reads("actions"), (*call).listRuns},
		"GET " + repoPath + "/actions/runs/{run_id}":                                {reads("actions"), (*call).getRun},
		"GET " + repoPath + "/actions/runs/{run_id}/attempts/{attempt_number}":      {reads("actions"), (*call).getAttempt},
		"GET " + repoPath + "/actions/runs/{run_id}/jobs":                           {reads("actions"), (*call).listJobs},
		"GET " + repoPath + "/actions/runs/{run_id}/attempts/{attempt_number}/jobs": {reads("actions"), (*call).listJobs},
		"GET " + repoPath + "/actions/runs/{run_id}/logs":                           {reads("actions"), (*call).runLogs},
		"GET " + repoPath + "/actions/runs/{run_id}/attempts/{attempt_number}/logs": {reads("actions"), (*call).runLogs},
		"GET " + repoPath + "/actions/jobs/{job_id}":                                {reads("actions"), (*call).getJob},
		"GET " + repoPath + "/actions/jobs/{job_id}/logs":                           {reads("actions"), (*call).jobLog},
		"POST " + repoPath + "/actions/runs/{run_id}/rerun":                         {writes("actions"), (*call).rerunRun},
		"POST " + repoPath + "/actions/runs/{run_id}/rerun-failed-jobs":             {writes("actions"), (*call).rerunFailed},
		"POST " + repoPath + "/actions/jobs/{job_id}/rerun":                         {writes("actions"), (*call).rerunJob},
		"GET " + repoPath + "/actions/workflows/{workflow_id}/runs":                 {reads("actions"), (*call).listWorkflowRuns},
		"POST " + repoPath + "/actions/workflows/{workflow_id}/dispatches":          {writes("actions"), (*call).dispatchWorkflow},

		"GET " + repoPath + "/actions/artifacts":                                {reads("actions"), (*call).listArtifacts},
		"GET " + repoPath + "/actions/runs/{run_id}/artifacts":                  {reads("actions"), (*call).listRunArtifacts},
		"GET " + repoPath + "/actions/artifacts/{artifact_id}":                  {reads("actions"), (*call).getArtifact},
		"GET " + repoPath + "/actions/artifacts/{artifact_id}/{archive_format}": {reads("actions"), (*call).downloadArtifact},
	}
}
