package sampletest
import ("testing";"os";"context";"fmt")
func TestZZOne(t *testing.T){ n:=os.Getenv("ONE"); d:=os.Getenv("ONEDIR"); if n==""{t.Skip()}
 s,err:=Load("../../testdata/samples/"+n+".txtar"); if err!=nil{t.Fatal(err)}
 r,err:=s.Build(context.Background(),d); if err!=nil{t.Fatal(err)}
 fmt.Println("ARGS",s.Args(r,d+"/out"))
}
