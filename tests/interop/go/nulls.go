package main

import (
	"context"
	"database/sql"
)

var background = context.Background()

var (
	nullByte   = sql.NullByte{}
	nullInt16  = sql.NullInt16{}
	nullInt32  = sql.NullInt32{}
	nullInt64  = sql.NullInt64{}
	nullBool   = sql.NullBool{}
	nullFloat  = sql.NullFloat64{}
	nullString = sql.NullString{}
	nullTime   = sql.NullTime{}
)
