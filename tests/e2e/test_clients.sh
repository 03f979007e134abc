#!/usr/bin/env bash
# Clients that Debian packages, unmodified, on a tidesim of their own: tsql, bsqldb, freebcp and isql through FreeTDS's ODBC
# driver; and tidesim's own. Prints TAP; a client that is not installed is skipped aloud.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C.UTF-8

tidesim=${TIDELAKE_BUILD_ROOT:-$PWD/build}/tidesim
password=Tide.Sim.1
work=$(mktemp -d "${TMPDIR:-/tmp}/tidelake-clients-XXXXXX")
server=
trap 'stop_server; rm -rf "$work"' EXIT

# --- the server ---

# start_server [OPTION...]: sets $address, $port and $server.
start_server() {
  "$tidesim" serve --listen 127.0.0.1:0 --database shop --capture-interval manual --seed 7 "$@" >"$work/out" 2>"$work/err" &
  server=$!
  for _ in $(seq 1200); do
    address=$(sed -n 's/^tidesim ready //p' "$work/out")
    if [ -n "$address" ]; then
      port=${address##*:}
      return 0
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  cat "$work/err" >&2
  server=
  return 1
}

stop_server() {
  [ -n "$server" ] || return 0
  kill -TERM "$server" 2>/dev/null
  wait "$server"
  local status=$?
  server=
  return "$status"
}

# --- clients: a script on stdin, everything they say on stdout ---

run_exec() { timeout 60 "$tidesim" exec --server "$address" --login "sa:$password" --database shop "$@" 2>&1; }
run_tsql() { TDSVER=${version:-7.4} timeout 60 tsql -H 127.0.0.1 -p "$port" -U sa -P "$password" -D shop 2>&1; }
run_bsqldb() { timeout 60 bsqldb -S "127.0.0.1:$port" -U sa -P "$password" -D shop "$@" 2>&1 | tr -d '\0'; }
run_isql() {
  timeout 60 isql -b -k "Driver=FreeTDS;Server=127.0.0.1;Port=$port;UID=sa;PWD=$password;Database=shop;TDS_Version=7.4;ClientCharset=UTF-8" "$@" 2>&1
}

# --- cases ---

number=0 failures=0
# has TEXT NAME: the text holds the name, literally.
has() {
  case $1 in
    *"$2"*) return 0 ;;
  esac
  printf '# wanted: %s\n# got: %s\n' "$2" "${1//$'\n'/$'\n# '}"
  return 1
}
case_of() {
  number=$((number + 1))
  if "$1"; then
    echo "ok $number - clients: $1"
  else
    echo "not ok $number - clients: $1"
    failures=$((failures + 1))
  fi
}
# needs COMMAND CASE...
needs() {
  local command=$1
  shift
  for name in "$@"; do
    if command -v "$command" >/dev/null; then
      case_of "$name"
    else
      number=$((number + 1))
      echo "ok $number - clients: $name # SKIP $command is not installed"
    fi
  done
}

cat >"$work/types.sql" <<'SQL'
CREATE TABLE dbo.kinds (id int NOT NULL PRIMARY KEY, c_bit bit, c_tiny tinyint, c_small smallint, c_big bigint, c_real real, c_float float,
  c_dec decimal(18,4), c_wide decimal(38,10), c_money money, c_date date, c_time time(3), c_dt datetime, c_sdt smalldatetime, c_dt2 datetime2(7),
  c_dto datetimeoffset(7), c_char char(5), c_varchar varchar(20), c_nvarchar nvarchar(20), c_binary binary(4), c_guid uniqueidentifier,
  c_max nvarchar(max));
GO
INSERT INTO dbo.kinds VALUES (1, 1, 255, 32767, 9223372036854775807, 1.5, 1.7976931348623157e308, 99999999999999.9999,
  9999999999999999999999999999.9999999999, 922337203685477.5807, '9999-12-31', '23:59:59.999', '9999-12-31T23:59:59.997',
  '2079-06-06T23:59:00', '9999-12-31T23:59:59.9999999', '9999-12-31T23:59:59.9999999+14:00', 'abcde', 'xyz', N'Ünï 日本', 0xDEADBEEF,
  '6F9619FF-8B86-D011-B42D-00C04FC964FF', REPLICATE(CAST(N'ж' AS nvarchar(max)), 5000));
INSERT INTO dbo.kinds VALUES (2, 0, 0, -32768, -9223372036854775808, -1.5, 2.2250738585072014e-308, -99999999999999.9999,
  -9999999999999999999999999999.9999999999, -922337203685477.5808, '0001-01-01', '00:00:00', '1753-01-01', '1900-01-01', '0001-01-01',
  '0001-01-01T00:00:00-14:00', '', '', N'', 0x00, '00000000-0000-0000-0000-000000000000', N'');
INSERT INTO dbo.kinds (id) VALUES (3);
GO
SQL

# tidesim's own client.

exec_prints_results_and_messages() {
  local out
  out=$(run_exec - <<<$'SELECT 1 AS one, N\'zwei\' AS two\nPRINT \'drei\'') || return 1
  has "$out" $'one  two\n---  ----\n  1  zwei\n\n(1 row affected)' && has "$out" drei
}

exec_stops_at_the_first_error_and_names_file_and_line() {
  local out
  printf 'SELECT 1\nGO\n\nSELECT *\nFROM nowhere\nGO\nPRINT N'"'"'behind'"'"'\n' >"$work/bad.sql"
  if out=$(run_exec "$work/bad.sql"); then return 1; fi
  has "$out" 'Msg 208, Level 16, State 1, Line ' && has "$out" "Invalid object name 'nowhere'." && has "$out" "tidesim: $work/bad.sql:" || return 1
  case $out in *behind*) return 1 ;; esac
  if out=$(run_exec --keep-going "$work/bad.sql"); then return 1; fi
  has "$out" behind
}

exec_keeps_its_session_and_repeats_with_go() {
  local out
  out=$(run_exec - <<<$'CREATE TABLE #t (a int)\nGO\nINSERT #t VALUES (1)\nGO 5\nSELECT \'count\', COUNT(*) FROM #t\nGO') || return 1
  has "$out" 'count  5'
}

exec_in_memory_has_change_data_capture() {
  local out
  out=$(timeout 60 "$tidesim" exec --database shop - 2>&1 <<'SQL'
CREATE TABLE dbo.t (a int PRIMARY KEY);
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL;
GO
EXEC tidesim.scan_now 'shop';
INSERT dbo.t VALUES (1), (2);
EXEC tidesim.scan_now 'shop';
GO
SELECT 'changes', COUNT(*) FROM cdc.dbo_t_CT;
SQL
  ) || { printf '# %s\n' "$out"; return 1; }
  has "$out" 'changes  2'
}

exec_json_is_one_object() {
  local out
  out=$(run_exec --json - <<<'SELECT 1 AS a, NULL AS b') || return 1
  [ "$out" = '{"results": [{"columns": ["a", "b"], "rows": [[1, null]]}], "messages": [], "failed": false}' ] || has "$out" 'the object'
}

exec_says_what_is_wrong() {
  local out
  out=$(timeout 60 "$tidesim" exec --server "$address" --login sa:wrong - 2>&1 <<<'SELECT 1')
  [ $? = 1 ] && has "$out" "Login failed for user 'sa'." || return 1
  out=$(timeout 60 "$tidesim" exec --server 127.0.0.1:1 - 2>&1 <<<'SELECT 1')
  [ $? = 1 ] && has "$out" 'tidesim: 127.0.0.1:1: no server answers' || return 1
  out=$("$tidesim" exec --sevrer x 2>&1)
  [ $? = 2 ] && has "$out" 'did you mean --server?' || return 1
  out=$(run_exec "$work/none.sql")
  [ $? = 1 ] && has "$out" "cannot read $work/none.sql"
}

# FreeTDS's command line.

tsql_reads_every_version_of_the_protocol() {
  local out version
  for version in 7.1 7.2 7.3 7.4; do
    out=$(run_tsql <<<$'select id, c_big, c_varchar, c_guid from kinds\ngo\nexit\n') || return 1
    has "$out" $'1\t9223372036854775807\txyz\t6F9619FF-8B86-D011-B42D-00C04FC964FF' && has "$out" $'3\tNULL\tNULL\tNULL' || return 1
    has "$out" '(3 rows affected)' || return 1
  done
}

tsql_shows_errors_with_number_severity_state_and_line() {
  local out
  out=$(run_tsql <<<$'select 1\nraiserror(\'boo\', 16, 5)\ngo\nselect * from nowhere\ngo\nselect \'still\', \'here\'\ngo\nexit\n') || return 1
  has "$out" 'Msg 50000 (severity 16, state 5) from TIDESIM Line 2:' && has "$out" 'Msg 208 (severity 16, state 1) from TIDESIM Line 1:' &&
    has "$out" $'still\there'
}

tsql_shows_several_results_and_uses_databases() {
  local out
  out=$(run_tsql <<<$'select 11 as a select 22 as b, 33 as c\nuse master\nselect db_name()\ngo\nexit\n') || return 1
  has "$out" $'11\n(1 row affected)' && has "$out" $'22\t33' && has "$out" master
}

bsqldb_runs_scripts_and_fails_on_errors() {
  local out
  printf 'select id, c_small, c_varchar, c_nvarchar from kinds\ngo\ninsert kinds (id) select id + 100 from kinds\ngo\ndelete kinds where id > 100\ngo\n' >"$work/b.sql"
  out=$(run_bsqldb -i "$work/b.sql") || { printf '# %s\n' "$out"; return 1; }
  has "$out" '3 rows affected' && has "$out" 'Ünï 日本' && has "$out" -32768 || return 1
  printf 'select * from nowhere\ngo\n' >"$work/b.sql"
  if out=$(run_bsqldb -i "$work/b.sql"); then return 1; fi
  has "$out" 'Msg 208, Level 16, State 1'
}

freebcp_copies_a_table_out() {
  timeout 60 freebcp shop.dbo.kinds out "$work/kinds.txt" -c -t '|' -S "127.0.0.1:$port" -U sa -P "$password" >"$work/bcp.out" 2>&1 || return 1
  has "$(tr -d '\0' <"$work/kinds.txt")" '1|1|255|32767|9223372036854775807|1.5|'
}

# ODBC.

isql_reads_every_type_at_its_extremes() {
  local out
  out=$(run_isql -x0x7C <<<$'select id, c_bit, c_tiny, c_small, c_big, c_dec, c_wide, c_money from kinds\nselect c_date, c_dt, c_sdt, c_dt2, c_dto, c_char, c_nvarchar, c_binary, len(c_max) from kinds\n') || return 1
  has "$out" '1|1|255|32767|9223372036854775807|99999999999999.9999|9999999999999999999999999999.9999999999|922337203685477.5807' &&
    has "$out" '2|0|0|-32768|-9223372036854775808|-99999999999999.9999|-9999999999999999999999999999.9999999999|-922337203685477.5808' &&
    has "$out" '9999-12-31|9999-12-31 23:59:59.997|2079-06-06 23:59:00|9999-12-31 23:59:59.9999999|9999-12-31 23:59:59.9999999 +14:00|abcde|Ünï 日本|deadbeef|5000' &&
    has "$out" '1753-01-01 00:00:00.000|1900-01-01 00:00:00'
}

isql_shows_the_state_and_the_text_of_errors() {
  has "$(run_isql -v <<<$'select * from nowhere\n')" "[S0002][FreeTDS][SQL Server]Invalid object name 'nowhere'." &&
    has "$(run_isql -v <<<$'insert kinds (id) values (1)\n')" '[23000][FreeTDS][SQL Server]Violation of PRIMARY KEY constraint'
}

isql_lists_tables_and_columns() {
  has "$(run_isql -x0x7C <<<$'help\n')" 'shop|dbo|kinds|TABLE' && has "$(run_isql -x0x7C <<<$'help kinds\n')" 'shop|dbo|kinds|c_money'
}

# The server itself.

an_error_in_an_init_script_names_file_and_line() {
  local out
  printf 'PRINT 1\nGO\nSELECT 1/0\n' >"$work/init.sql"
  out=$(timeout 60 "$tidesim" serve --listen 127.0.0.1:0 --init "$work/init.sql" 2>&1)
  [ $? = 1 ] && has "$out" "tidesim: $work/init.sql:3: Divide by zero error encountered." || return 1
  case $out in *ready*) return 1 ;; esac
}

signals_stop_the_server_cleanly() {
  local status out
  out=$(run_exec - <<<"SELECT 'before'") && has "$out" before || return 1
  stop_server
  status=$?
  [ "$status" = 143 ] || { echo "# exit status $status"; return 1; }
  if out=$(run_exec - <<<'SELECT 1'); then return 1; fi
  start_server || return 1
  kill -INT "$server"
  wait "$server"
  status=$?
  server=
  [ "$status" = 130 ] || { echo "# exit status $status"; return 1; }
}

start_server --init "$work/types.sql" || { echo "1..1"; echo "not ok 1 - clients: tidesim starts"; exit 1; }
case_of exec_prints_results_and_messages
case_of exec_stops_at_the_first_error_and_names_file_and_line
case_of exec_keeps_its_session_and_repeats_with_go
case_of exec_in_memory_has_change_data_capture
case_of exec_json_is_one_object
case_of exec_says_what_is_wrong
needs tsql tsql_reads_every_version_of_the_protocol tsql_shows_errors_with_number_severity_state_and_line \
  tsql_shows_several_results_and_uses_databases
needs bsqldb bsqldb_runs_scripts_and_fails_on_errors
needs freebcp freebcp_copies_a_table_out
needs isql isql_reads_every_type_at_its_extremes isql_shows_the_state_and_the_text_of_errors isql_lists_tables_and_columns
case_of an_error_in_an_init_script_names_file_and_line
case_of signals_stop_the_server_cleanly
echo "1..$number"
[ "$failures" = 0 ]
