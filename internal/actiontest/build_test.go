package actiontest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// root is the root of the repository, from the folder of this package.
const root = "../.."

var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// triagebot is the path of the program, built once.
func triagebot(t *testing.T) string {
	t.Helper()
	return filepath.Join(programs(t), "triagebot")
}

// programs is a folder with the static programs of this project that tests run.
func programs(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "actiontest"); built.err != nil {
			return
		}
		c := exec.Command("go", "build", "-o", built.dir+string(filepath.Separator), "./cmd/triagebot")
		c.Dir = root
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("building the programs: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}
