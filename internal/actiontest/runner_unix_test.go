//go:build unix

package actiontest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// nobody owns nothing; the runner of GitHub is not root either.
const nobody = 65534

// asRunner makes a command run as a user without rights, as on a runner, and
// gives it the folders that it works in.
func asRunner(t *testing.T, c *exec.Cmd, dirs ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	for _, dir := range dirs {
		// Its parent is the test's, which only root may enter.
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, nobody, nobody)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
