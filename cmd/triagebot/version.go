package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/triage"
)

// version is set by the release build; a build from source tells its revision.
var version = ""

func toolVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// tool describes this program for a report.
func tool() triage.Tool {
	return triage.Tool{
		Name: "triagebot", Version: toolVersion(), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(),
	}
}

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			t := tool()
			_, err := fmt.Fprintf(s.out, "triagebot %s (%s, %s)\n", t.Version, t.Go, t.Platform)
			return err
		},
	}
}
