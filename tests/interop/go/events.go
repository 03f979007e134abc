package main

import (
	"fmt"

	"github.com/golang-sql/sqlexp"
)

// events runs a batch and tells what comes, in its order: messages, counts, rows and results as the server sends them.
func (s *session) events(text string) []string {
	message := &sqlexp.ReturnMessage{}
	rows, err := s.QueryContext(background, text, message)
	must(err)
	defer rows.Close()
	events := []string{}
	for isActive := true; isActive; {
		switch one := message.Message(background).(type) {
		case sqlexp.MsgNotice:
			events = append(events, "notice "+one.Message.String())
		case sqlexp.MsgError:
			events = append(events, "error "+one.Error.Error())
		case sqlexp.MsgRowsAffected:
			events = append(events, fmt.Sprint("count ", one.Count))
		case sqlexp.MsgNextResultSet:
			events = append(events, "next")
			isActive = rows.NextResultSet()
		case sqlexp.MsgNext:
			for _, row := range readRows(rows) {
				events = append(events, fmt.Sprint("row ", row[0]))
			}
		}
	}
	must(rows.Err())
	return events
}
