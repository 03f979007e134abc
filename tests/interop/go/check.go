package main

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// wrong is what a case panics with; main prints it.
type wrong struct{ text string }

func fail(format string, arguments ...any) {
	panic(wrong{fmt.Sprintf(format, arguments...)})
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func same(what string, got, want any) {
	if !isSame(got, want) {
		fail("%s: got %s, wanted %s", what, show(got), show(want))
	}
}

func isSame(got, want any) bool {
	switch want := want.(type) {
	case time.Time: // zones too
		got, ok := got.(time.Time)
		if !ok {
			return false
		}
		_, left := got.Zone()
		_, right := want.Zone()
		return got.Equal(want) && left == right
	case []byte:
		got, ok := got.([]byte)
		return ok && got != nil && bytes.Equal(got, want)
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for i := range want {
			if !isSame(got[i], want[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(got, want)
}

func show(value any) string {
	text := fmt.Sprintf("%T %v", value, value)
	if len(text) > 300 {
		text = text[:300] + "..."
	}
	return text
}

// refused checks the number of an error and gives all of it.
func refused(err error, number int32) mssql.Error {
	if err == nil {
		fail("error %d did not come", number)
	}
	var found mssql.Error
	if !errors.As(err, &found) {
		fail("wanted error %d, got %T: %v", number, err, err)
	}
	if found.Number != number {
		fail("wanted error %d, got %d: %s", number, found.Number, found.Message)
	}
	return found
}
