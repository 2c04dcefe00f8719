package rerun

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// burnParent makes the test program start busy loops, say that they run, and
// wait to be killed.
const burnParent = "__burn-parent"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == BurnArg {
		Burn()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == burnParent {
		if _, err := burn(context.Background(), &triage.LagPlan{Burners: 2}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("burning")
		time.Sleep(time.Hour)
	}
	code := m.Run()
	lab.remove()
	os.Exit(code)
}
