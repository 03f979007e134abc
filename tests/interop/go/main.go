// go-mssqldb, unmodified, on a tidesim of its own: connections, types at their extremes both ways, parameters, prepared statements,
// procedures, transactions, errors, cancelling, bulk copies. Prints TAP.
//
//	TIDELAKE_BUILD=build tests/interop/go/run [CASE...]
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

type testCase struct {
	name string
	run  func(*server)
}

var groups = [][]testCase{connectionCases, valueCases, statementCases, procedureCases, transactionCases, cancelCases, bulkCases}

// try runs a case and tells what was wrong, "" for nothing. A case that hangs is given up.
func try(one testCase, on *server) string {
	why := make(chan string, 1)
	go func() {
		defer func() {
			switch reason := recover().(type) {
			case nil:
				why <- ""
			case wrong:
				why <- reason.text + "\n" + place()
			default:
				why <- fmt.Sprintf("%v\n%s", reason, debug.Stack())
			}
		}()
		one.run(on)
	}()
	select {
	case text := <-why:
		return text
	case <-time.After(90 * time.Second):
		return "it takes too long"
	}
}

// place names the line of the case that failed.
func place() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	for _, line := range lines {
		if strings.Contains(line, "_cases.go:") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func main() {
	on, err := startServer(setup)
	if err != nil {
		fmt.Printf("# %v\nnot ok - go: no server\n", err)
		os.Exit(1)
	}
	number, failed := 0, 0
	report := func(name, why string) {
		number++
		result := "ok"
		if why != "" {
			failed++
			result = "not ok"
			for _, line := range strings.Split(strings.TrimSpace(why), "\n") {
				fmt.Println("# " + line)
			}
		}
		fmt.Printf("%s %d - go: %s\n", result, number, strings.ReplaceAll(name, "_", " "))
	}
	for _, group := range groups {
		for _, one := range group {
			if len(os.Args) < 2 || slices.Contains(os.Args[1:], one.name) {
				report(one.name, try(one, on))
			}
		}
	}
	why := ""
	if err := on.stop(); err != nil {
		why = err.Error()
	}
	report("the_server_ends_as_it_is_told_to", why)
	fmt.Printf("1..%d\n", number)
	if failed > 0 || number < 2 {
		os.Exit(1)
	}
}
