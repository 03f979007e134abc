package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

const password = "Tide.Sim.1"

// server is a tidesim on a free port, with a database `shop`.
type server struct {
	folder      string
	address     string // host:port
	certificate string // a file that holds it, "" without TLS
	process     *exec.Cmd
	stderr      *said
}

// said keeps what a process writes.
type said struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (s *said) Write(bytes []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.Write(bytes)
}

func (s *said) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}

// startServer runs `script` in it first.
func startServer(script string, options ...string) (*server, error) {
	build := os.Getenv("TIDELAKE_BUILD")
	if build == "" {
		build = "build"
	}
	folder, err := os.MkdirTemp("", "tidelake-go-")
	if err != nil {
		return nil, err
	}
	init := filepath.Join(folder, "init.sql")
	if err := os.WriteFile(init, []byte(script), 0o644); err != nil {
		return nil, err
	}
	options = append([]string{"serve", "--listen", "127.0.0.1:0", "--database", "shop", "--login", "sa:" + password,
		"--capture-interval", "manual", "--seed", "7", "--init", init}, options...)
	s := &server{folder: folder, process: exec.Command(filepath.Join(build, "tidesim"), options...), stderr: &said{}}
	s.process.Stderr = s.stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for s.address == "" && lines.Scan() {
		s.address, _ = strings.CutPrefix(lines.Text(), "tidesim ready ")
	}
	if s.address == "" {
		s.stop()
		return nil, fmt.Errorf("tidesim did not start: %s", s.stderr)
	}
	go func() {
		for lines.Scan() { // so that it never waits for a reader
		}
	}()
	if found := regexp.MustCompile(`certificate (\S+\.pem)`).FindStringSubmatch(s.stderr.String()); found != nil {
		s.certificate = found[1]
	}
	return s, nil
}

func (s *server) stop() error {
	defer os.RemoveAll(s.folder)
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	stopped := time.AfterFunc(20*time.Second, func() { s.process.Process.Kill() })
	defer stopped.Stop()
	s.process.Wait()
	if code := s.process.ProcessState.ExitCode(); code != 143 {
		return fmt.Errorf("tidesim ended with %d: %s", code, s.stderr)
	}
	return nil
}

// dsn takes options as pairs of name and value.
func (s *server) dsn(options ...string) string {
	query := url.Values{"database": {"shop"}, "encrypt": {"disable"}, "dial timeout": {"15"}}
	for i := 0; i < len(options); i += 2 {
		query.Set(options[i], options[i+1])
	}
	user := query.Get("login")
	if user == "" {
		user = "sa:" + password
	}
	query.Del("login")
	name, secret, _ := strings.Cut(user, ":")
	address := url.URL{Scheme: "sqlserver", User: url.UserPassword(name, secret), Host: s.address, RawQuery: query.Encode()}
	return address.String()
}

func (s *server) open(options ...string) *sql.DB {
	db, err := sql.Open("sqlserver", s.dsn(options...))
	must(err)
	return db
}

// session is one connection of a pool of its own; close gives both up.
type session struct {
	*sql.Conn
	db *sql.DB
}

func (s *server) session(options ...string) *session {
	db := s.open(options...)
	conn, err := db.Conn(context.Background())
	must(err)
	return &session{conn, db}
}

func (s *session) close() {
	s.Conn.Close()
	s.db.Close()
}

func (s *session) exec(text string, arguments ...any) int64 {
	result, err := s.ExecContext(context.Background(), text, arguments...)
	must(err)
	count, err := result.RowsAffected()
	must(err)
	return count
}

func (s *session) try(text string, arguments ...any) error {
	return tryIt(s.QueryContext(context.Background(), text, arguments...))
}

// tryIt reads all there is, so that an error behind rows comes out too.
func tryIt(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		for rows.Next() {
		}
		if err := rows.Err(); err != nil || !rows.NextResultSet() {
			return errors.Join(err, rows.Err())
		}
	}
}

// rows gives the first result, its values as the driver made them.
func (s *session) rows(text string, arguments ...any) [][]any {
	rows, err := s.QueryContext(context.Background(), text, arguments...)
	must(err)
	defer rows.Close()
	found := readRows(rows)
	must(rows.Err())
	return found
}

func readRows(rows *sql.Rows) [][]any {
	columns, err := rows.Columns()
	must(err)
	found := [][]any{}
	for rows.Next() {
		values, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		must(rows.Scan(places...))
		found = append(found, values)
	}
	return found
}

func (s *session) scalar(text string, arguments ...any) any {
	return s.rows(text, arguments...)[0][0]
}
