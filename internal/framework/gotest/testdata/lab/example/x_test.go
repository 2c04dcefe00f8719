package example

import "fmt"

func Example_good() {
	fmt.Println("a")
	// Output: a
}
func Example_bad() {
	fmt.Println("a")
	fmt.Println("c")
	// Output: b
}
