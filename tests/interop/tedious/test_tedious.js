// tedious, unmodified, on a tidesim of its own: connections, types at their extremes both ways, parameters, prepared statements,
// procedures, transactions, errors, pause and resume, cancelling, collations, bulk loads. Prints TAP.
//
//   TIDELAKE_BUILD=build tests/interop/tedious/run [CASE...]
'use strict';
const assert = require('assert');
const {Request, TYPES, ISOLATION_LEVEL} = require('tedious');
const {Server, run, query, batch, call} = require('./server.js');

const GUID = '6F9619FF-8B86-D011-B42D-00C04FC964FF';
const utc = (...parts) => new Date(Date.UTC(...parts));
const yearOne = new Date(Date.UTC(2000, 0, 1)); // setUTCFullYear: Date.UTC takes years below 100 for 19xx
yearOne.setUTCFullYear(1);

// [column, SQL type, tedious' type, its options, value at one end, value at the other]
const KINDS = [
  ['c_bit', 'bit', TYPES.Bit, {}, true, false],
  ['c_tiny', 'tinyint', TYPES.TinyInt, {}, 255, 0],
  ['c_small', 'smallint', TYPES.SmallInt, {}, 32767, -32768],
  ['c_int', 'int', TYPES.Int, {}, 2147483647, -2147483648],
  ['c_big', 'bigint', TYPES.BigInt, {}, '9223372036854775807', '-9223372036854775808'],
  ['c_real', 'real', TYPES.Real, {}, 1.5, -0.25],
  ['c_float', 'float', TYPES.Float, {}, 1.7976931348623157e308, 2.2250738585072014e-308],
  ['c_dec', 'decimal(15,4)', TYPES.Decimal, {precision: 15, scale: 4}, 12345678901.2345, -0.0001],
  ['c_num', 'numeric(5,2)', TYPES.Numeric, {precision: 5, scale: 2}, 999.99, -999.99],
  ['c_money', 'money', TYPES.Money, {}, 123456789.1234, -123456789.1234],
  ['c_smoney', 'smallmoney', TYPES.SmallMoney, {}, 214748.3647, -214748.3648],
  ['c_date', 'date', TYPES.Date, {}, utc(9999, 11, 31), yearOne],
  ['c_time', 'time(3)', TYPES.Time, {scale: 3}, utc(1970, 0, 1, 23, 59, 59, 999), utc(1970, 0, 1)],
  ['c_dt', 'datetime', TYPES.DateTime, {}, utc(9999, 11, 31, 23, 59, 59, 997), utc(1753, 0, 1)],
  ['c_sdt', 'smalldatetime', TYPES.SmallDateTime, {}, utc(2079, 5, 6, 23, 59), utc(1900, 0, 1)],
  ['c_dt2', 'datetime2(3)', TYPES.DateTime2, {scale: 3}, utc(9999, 11, 31, 23, 59, 59, 999), yearOne],
  ['c_dto', 'datetimeoffset(3)', TYPES.DateTimeOffset, {scale: 3}, utc(9999, 11, 31, 9, 59, 59, 999), utc(1970, 0, 1)],
  ['c_char', 'char(5)', TYPES.Char, {length: 5}, 'abcde', '     '],
  ['c_varchar', 'varchar(20)', TYPES.VarChar, {length: 20}, 'x y z', ''],
  ['c_nchar', 'nchar(5)', TYPES.NChar, {length: 5}, 'ünïcö', '     '],
  ['c_nvarchar', 'nvarchar(20)', TYPES.NVarChar, {length: 20}, '日本語 😀', ''],
  ['c_binary', 'binary(4)', TYPES.Binary, {length: 4}, Buffer.from('deadbeef', 'hex'), Buffer.from('00000000', 'hex')],
  ['c_varbinary', 'varbinary(10)', TYPES.VarBinary, {length: 10}, Buffer.from('0102', 'hex'), Buffer.alloc(0)],
  ['c_guid', 'uniqueidentifier', TYPES.UniqueIdentifier, {}, GUID, '00000000-0000-0000-0000-000000000000'],
  ['c_vmax', 'varchar(max)', TYPES.VarChar, {length: Infinity}, 'v'.repeat(9000), ''],
  ['c_nmax', 'nvarchar(max)', TYPES.NVarChar, {length: Infinity}, 'ж'.repeat(70000), ''],
  ['c_bmax', 'varbinary(max)', TYPES.VarBinary, {length: Infinity}, Buffer.alloc(70000, 7), Buffer.alloc(0)],
  ['c_text', 'text', TYPES.Text, {}, 'some text', ''],
  ['c_ntext', 'ntext', TYPES.NText, {}, 'ntext ж', ''],
  ['c_image', 'image', TYPES.Image, {}, Buffer.from('010203', 'hex'), Buffer.alloc(0)],
];
const VARIANTS = [['CAST(12 AS int)', 12], ["CAST('v' AS varchar(9))", 'v'], ["CAST(N'ж' AS nvarchar(9))", 'ж'], ['CAST(1.5 AS decimal(5,2))', 1.5],
  ["CAST('2024-02-29' AS date)", utc(2024, 1, 29)], ['CAST(0x01FF AS varbinary(9))', Buffer.from('01ff', 'hex')], [`CAST('${GUID}' AS uniqueidentifier)`, GUID],
  ['CAST(9223372036854775807 AS bigint)', '9223372036854775807'], ['CAST(1 AS bit)', true], ['CAST(1.25 AS float)', 1.25],
  ["CAST('2024-02-29T12:34:56.78' AS datetime2(2))", utc(2024, 1, 29, 12, 34, 56, 780)], ['CAST(NULL AS int)', null]];

const SETUP = `
CREATE TABLE dbo.kinds (id int NOT NULL PRIMARY KEY, ${KINDS.map(([name, type]) => `${name} ${type} NULL`).join(', ')});
CREATE TABLE dbo.loaded (id int NOT NULL PRIMARY KEY, ${KINDS.map(([name, type]) => `${name} ${type} NULL`).join(', ')});
CREATE TABLE dbo.plain (id int NOT NULL PRIMARY KEY, name nvarchar(20) NULL DEFAULT 'none');
CREATE TABLE dbo.numbers (n int NOT NULL PRIMARY KEY);
INSERT INTO dbo.numbers SELECT value FROM GENERATE_SERIES(1, 1000);
CREATE TABLE dbo.greek (id int NOT NULL, g varchar(20) COLLATE Greek_CI_AS, c varchar(20) COLLATE Cyrillic_General_CI_AS,
  u varchar(40) COLLATE Latin1_General_100_CI_AS_SC_UTF8, l varchar(20) COLLATE Latin1_General_CI_AS);
INSERT INTO dbo.greek VALUES (1, N'αβγ', N'жук', N'ü日本😀', N'ünï€');
GO
`;

function assertSame(got, want, what) {
  if (want instanceof Date) assert.strictEqual(got && got.toISOString(), want.toISOString(), what);
  else if (Buffer.isBuffer(want)) assert.ok(Buffer.isBuffer(got) && got.equals(want), `${what}: ${got && got.toString('hex').slice(0, 40)}`);
  else if (typeof want === 'number' && !Number.isInteger(want)) assert.ok(Math.abs(got - want) <= Math.abs(want) * 1e-14, `${what}: ${got}`);
  else assert.strictEqual(got, want, what);
}

async function refused(promise, number, what) {
  const error = await promise.then(() => assert.fail(`${what || 'it'} is not refused`), (reason) => reason);
  const first = error.errors ? error.errors[0] : error;
  if (number !== undefined) assert.strictEqual(first.number, number, `${first.number}: ${first.message}`);
  return first;
}

const scalar = async (connection, sql) => (await batch(connection, sql)).rows[0][0];

const cases = {
  // --- connections ---
  async connects_in_every_version_packet_size_and_with_tls(server) {
    for (const options of [{tdsVersion: '7_1'}, {tdsVersion: '7_2'}, {tdsVersion: '7_3_A'}, {tdsVersion: '7_3_B'}, {tdsVersion: '7_4'},
      {packetSize: 512}, {packetSize: 32767}, {encrypt: true}, {useUTC: false}, {textsize: 100000}]) {
      const connection = await server.connect(options);
      assert.deepStrictEqual((await batch(connection, 'SELECT DB_NAME(), 1')).rows, [['shop', 1]], JSON.stringify(options));
      connection.close();
    }
  },
  async a_wrong_login_or_database_is_refused(server) {
    const login = await server.connect({}, 'sa', 'wrong').then(() => assert.fail('logged in'), (error) => error);
    assert.strictEqual(login.code, 'ELOGIN', login.message);
    assert.match(login.message, /Login failed for user 'sa'/);
    const database = await server.connect({database: 'nowhere'}).then(() => assert.fail('logged in'), (error) => error);
    assert.strictEqual(database.code, 'ELOGIN', database.message);
  },
  async a_connection_can_be_reset(server) {
    const connection = await server.connect();
    await batch(connection, 'CREATE TABLE #t (n int); SET LOCK_TIMEOUT 5; USE master');
    await new Promise((resolve, reject) => connection.reset((error) => (error ? reject(error) : resolve())));
    assert.deepStrictEqual((await batch(connection, "SELECT OBJECT_ID('tempdb..#t'), @@LOCK_TIMEOUT, DB_NAME()")).rows, [[null, -1, 'shop']]);
    connection.close();
  },

  // --- values ---
  async parameters_of_every_type_come_back_the_same(server) {
    const connection = await server.connect();
    for (const end of [4, 5])
      for (const [name, , type, options, ...ends] of KINDS) {
        const value = ends[end - 4];
        const result = await query(connection, 'SELECT @v', [['v', type, value, options]]);
        assertSame(result.rows[0][0], value, name);
      }
    for (const [name, , type, options] of KINDS) {
      const result = await query(connection, 'SELECT @v', [['v', type, null, options]]);
      assert.strictEqual(result.rows[0][0], null, name);
    }
    connection.close();
  },
  async columns_of_every_type_take_and_give_them(server) {
    const connection = await server.connect();
    const names = KINDS.map(([name]) => name);
    const insert = `INSERT INTO kinds (id, ${names.join(', ')}) VALUES (@id, ${names.map((name) => '@' + name).join(', ')})`;
    for (const [id, index] of [[1, 4], [2, 5], [3, null]])
      await query(connection, insert, [['id', TYPES.Int, id], ...KINDS.map((kind) => [kind[0], kind[2], index === null ? null : kind[index], kind[3]])]);
    for (const [id, index] of [[1, 4], [2, 5], [3, null]]) {
      const [row] = (await batch(connection, `SELECT ${names.join(', ')} FROM kinds WHERE id = ${id}`)).rows;
      KINDS.forEach((kind, at) => assertSame(row[at], index === null ? null : kind[index], kind[0]));
    }
    for (const tdsVersion of ['7_1', '7_2']) { // no types of dates and times, and no (max): text comes
      const old = await server.connect({tdsVersion});
      const [row] = (await batch(old, 'SELECT c_date, c_time, c_dt2, c_dto, c_int FROM kinds WHERE id = 1')).rows;
      assert.deepStrictEqual(row, ['9999-12-31', '23:59:59.999', '9999-12-31 23:59:59.999', '9999-12-31 09:59:59.999 +00:00', 2147483647]);
      assert.strictEqual((await batch(old, 'SELECT c_nmax FROM kinds WHERE id = 1')).rows[0][0].length, 70000);
      old.close();
    }
    connection.close();
  },
  async variants_keep_their_types(server) {
    const connection = await server.connect();
    for (const [sql, value] of VARIANTS) assertSame((await batch(connection, `SELECT CAST(${sql} AS sql_variant)`)).rows[0][0], value, sql);
    assert.strictEqual(await scalar(connection, "SELECT SERVERPROPERTY('EngineEdition')"), 3);
    assert.strictEqual(await scalar(connection, "SELECT CAST('<a>1</a>' AS xml)"), '<a>1</a>');
    connection.close();
  },
  async metadata_describes_the_columns(server) {
    const connection = await server.connect();
    const {columns} = await batch(connection, 'SELECT id, c_dec, c_nvarchar, c_dt2, c_bmax, c_varchar FROM kinds');
    assert.deepStrictEqual(columns.map((column) => column.colName), ['id', 'c_dec', 'c_nvarchar', 'c_dt2', 'c_bmax', 'c_varchar']);
    assert.deepStrictEqual([columns[1].precision, columns[1].scale, columns[2].dataLength, columns[3].scale], [15, 4, 40, 3]);
    assert.deepStrictEqual(columns.map((column) => column.flags & 1), [0, 1, 1, 1, 1, 1]);
    assert.strictEqual(columns[5].collation.codepage, 'CP1252');
    connection.close();
  },
  async collations_carry_their_code_pages(server) {
    const connection = await server.connect();
    const result = await batch(connection, 'SELECT g, c, u, l FROM greek');
    assert.deepStrictEqual(result.rows, [['αβγ', 'жук', 'ü日本😀', 'ünï€']]);
    assert.deepStrictEqual(result.columns.map((column) => column.collation.codepage), ['CP1253', 'CP1251', 'utf-8', 'CP1252']);
    const ordered = await batch(connection, "SELECT v FROM (VALUES ('B'), ('a'), ('C')) t(v) ORDER BY v COLLATE Latin1_General_BIN2");
    assert.deepStrictEqual(ordered.rows.map(([v]) => v), ['B', 'C', 'a']);
    await refused(batch(connection, 'SELECT * FROM greek WHERE g = l'), 468);
    connection.close();
  },

  // --- statements and procedures ---
  async parameters_are_typed_and_can_be_outputs(server) {
    const connection = await server.connect();
    const result = await query(connection, 'SET @sum = @a + @b; SET @text = REVERSE(@text); SELECT @a * @b',
      [['a', TYPES.Int, 6], ['b', TYPES.BigInt, 7], ['sum', TYPES.BigInt, null, {}, true], ['text', TYPES.NVarChar, 'abc', {length: 10}, true]]);
    assert.deepStrictEqual(result.rows, [['42']]);
    assert.deepStrictEqual(result.outputs, {sum: '13', text: 'cba'});
    await refused(query(connection, 'SELECT @missing'), 137);
    await refused(query(connection, 'SELECT CAST(@v AS int)', [['v', TYPES.VarChar, 'x']]), 245);
    connection.close();
  },
  async a_statement_is_prepared_once_and_run_often(server) {
    const connection = await server.connect();
    const rows = [];
    const request = new Request('SELECT n FROM numbers WHERE n BETWEEN @from AND @to ORDER BY n', () => {});
    request.addParameter('from', TYPES.Int);
    request.addParameter('to', TYPES.Int);
    request.on('row', (row) => rows.push(row[0].value));
    const step = (start) => new Promise((resolve, reject) => {
      request.userCallback = (error) => (error ? reject(error) : resolve());
      start();
    });
    await new Promise((resolve, reject) => { // it tells by events instead
      request.once('prepared', resolve);
      request.once('error', reject);
      connection.prepare(request);
    });
    assert.strictEqual(typeof request.handle, 'number');
    for (const [from, to] of [[1, 3], [5, 5], [9, 8], [998, 2000]]) {
      rows.length = 0;
      await step(() => connection.execute(request, {from, to}));
      const want = Array.from({length: Math.max(Math.min(to, 1000) - from + 1, 0)}, (_, i) => from + i);
      assert.deepStrictEqual(rows, want);
    }
    await step(() => connection.unprepare(request));
    await refused(step(() => connection.execute(request, {from: 1, to: 1})), 8179);
    connection.close();
  },
  async procedures_are_called(server) {
    const connection = await server.connect();
    const columns = await call(connection, 'sp_columns', [['table_name', TYPES.NVarChar, 'plain']]);
    assert.deepStrictEqual(columns.rows.map((row) => row[3]), ['id', 'name']);
    const executed = await call(connection, 'sp_executesql', [['statement', TYPES.NVarChar, 'SELECT @x'], ['params', TYPES.NVarChar, '@x int'], ['x', TYPES.Int, 5]]);
    assert.deepStrictEqual(executed.rows, [[5]]);
    assert.strictEqual(executed.status, 0);
    await refused(call(connection, 'no_such_procedure'), 2812);
    connection.close();
  },
  async several_results_come_in_order(server) {
    const connection = await server.connect();
    const infos = [];
    connection.on('infoMessage', (info) => infos.push(info.message));
    const result = await batch(connection, "SELECT 1; PRINT 'between'; SELECT 2, 3; UPDATE plain SET name = name; SELECT n FROM numbers WHERE n < 3");
    assert.deepStrictEqual(result.results, [[[1]], [[2, 3]], [[1], [2]]]);
    assert.ok(infos.includes('between'), infos.join());
    const counted = await batch(connection, 'INSERT plain (id) SELECT n + 5000 FROM numbers WHERE n <= 7; DELETE plain WHERE id > 5000');
    assert.strictEqual(counted.rowCount, 14);
    connection.close();
  },

  // --- transactions ---
  async transactions_commit_and_roll_back(server) {
    const connection = await server.connect(), other = await server.connect();
    const step = (method, ...args) => new Promise((resolve, reject) => connection[method]((error) => (error ? reject(error) : resolve()), ...args));
    for (const [level, number] of [[ISOLATION_LEVEL.READ_UNCOMMITTED, 1], [ISOLATION_LEVEL.READ_COMMITTED, 2], [ISOLATION_LEVEL.REPEATABLE_READ, 3],
      [ISOLATION_LEVEL.SERIALIZABLE, 4]]) {
      await step('beginTransaction', 'named', level);
      assert.deepStrictEqual((await batch(connection, 'SELECT @@TRANCOUNT, transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID')).rows,
        [[1, number]]);
      await batch(connection, "INSERT plain VALUES (1, 'one')");
      await refused(batch(other, 'SET LOCK_TIMEOUT 0; SELECT * FROM plain WHERE id = 1'), 1222);
      await step('rollbackTransaction');
      assert.strictEqual(await scalar(connection, 'SELECT COUNT(*) FROM plain'), 0);
    }
    await step('beginTransaction');
    await batch(connection, "INSERT plain VALUES (2, 'two')");
    await step('saveTransaction', 'point');
    await batch(connection, "INSERT plain VALUES (3, 'three')");
    await step('rollbackTransaction', 'point');
    await step('commitTransaction');
    assert.deepStrictEqual((await batch(other, 'SELECT id FROM plain')).rows, [[2]]);
    await refused(step('commitTransaction'), 3902);
    await batch(connection, 'DELETE plain');
    connection.close();
    other.close();
  },

  // --- errors ---
  async errors_carry_all_they_have(server) {
    const connection = await server.connect();
    const raised = await refused(batch(connection, "SELECT 1\n\nRAISERROR('boo %d', 12, 7, 5)"), 50000);
    assert.deepStrictEqual([raised.message, raised.class, raised.state, raised.lineNumber, raised.serverName], ['boo 5', 12, 7, 3, 'TIDESIM']);
    await refused(batch(connection, 'SELECT * FROM nowhere'), 208);
    await refused(batch(connection, 'SELCT 1'), undefined);
    await refused(batch(connection, 'SELECT 1 / 0'), 8134);
    await batch(connection, "INSERT plain VALUES (9, 'x')");
    const twice = await refused(batch(connection, "INSERT plain VALUES (9, 'y')"), 2627);
    assert.strictEqual(twice.class, 14);
    await batch(connection, 'DELETE plain');
    assert.strictEqual(await scalar(connection, 'SELECT 5'), 5);
    connection.close();
  },
  async an_error_amid_rows_keeps_the_rows(server) {
    const connection = await server.connect();
    const error = await batch(connection, 'SELECT 100 / (5 - n) FROM numbers WHERE n < 8 ORDER BY n').then(() => assert.fail('no error'), (reason) => reason);
    assert.strictEqual(error.number, 8134);
    assert.deepStrictEqual(error.result.rows, [[25], [33], [50], [100]]);
    connection.close();
  },

  // --- streams ---
  async rows_wait_while_a_request_is_paused(server) {
    const connection = await server.connect({packetSize: 512});
    let seen = 0, pauses = 0, isPaused = false;
    const result = await run(connection, 'execSqlBatch', 'SELECT a.n, b.n FROM numbers a CROSS JOIN numbers b WHERE b.n <= 20', [], (request) => {
      request.on('row', () => {
        assert.ok(!isPaused, 'a row came while paused');
        if (++seen % 4000 !== 0) return;
        request.pause();
        isPaused = true;
        pauses++;
        setTimeout(() => {
          isPaused = false;
          request.resume();
        }, 50);
      });
    });
    assert.deepStrictEqual([result.rows.length, seen, pauses], [20000, 20000, 5]);
    connection.close();
  },
  async a_request_is_cancelled_wherever_it_is(server) {
    const connection = await server.connect();
    const cancelled = async (sql, start) => {
      const began = Date.now();
      const error = await run(connection, 'execSqlBatch', sql, [], start).then(() => assert.fail('not cancelled'), (reason) => reason);
      assert.strictEqual(error.code, 'ECANCEL', error.message);
      assert.ok(Date.now() - began < 5000, 'too late');
      assert.strictEqual(await scalar(connection, 'SELECT 7'), 7);
    };
    await cancelled("WAITFOR DELAY '00:00:20'", () => setTimeout(() => connection.cancel(), 100)); // while it runs
    await cancelled('SELECT a.n FROM numbers a CROSS JOIN numbers b', (request) => request.once('row', () => connection.cancel())); // amid its rows
    await cancelled('SELECT 1', () => setImmediate(() => connection.cancel())); // at once
    await cancelled(`SELECT '${'x'.repeat(300000)}'`, () => setImmediate(() => connection.cancel())); // while it is sent
    const slow = await server.connect({requestTimeout: 200});
    const error = await batch(slow, "WAITFOR DELAY '00:00:20'").then(() => assert.fail('no timeout'), (reason) => reason);
    assert.strictEqual(error.code, 'ETIMEOUT');
    assert.strictEqual(await scalar(slow, 'SELECT 8'), 8);
    slow.close();
    connection.close();
  },

  // --- bulk loads ---
  async rows_of_every_type_are_loaded(server) {
    const connection = await server.connect();
    const rows = [1, 2, 3].map((id) => [id, ...KINDS.map((kind) => (id === 3 ? null : kind[3 + id]))]);
    const count = await load(connection, 'loaded', {}, (bulk) => {
      bulk.addColumn('id', TYPES.Int, {nullable: false});
      for (const [name, , type, options] of KINDS) bulk.addColumn(name, type, {nullable: true, ...options});
    }, rows);
    assert.strictEqual(count, 3);
    const back = (await batch(connection, `SELECT id, ${KINDS.map(([name]) => name).join(', ')} FROM loaded ORDER BY id`)).rows;
    back.forEach((row, r) => row.forEach((value, c) => assertSame(value, rows[r][c], c ? KINDS[c - 1][0] : 'id')));
    connection.close();
  },
  async a_load_takes_hints_streams_and_a_transaction(server) {
    const connection = await server.connect();
    await batch(connection, 'BEGIN TRAN');
    const plain = (bulk) => {
      bulk.addColumn('id', TYPES.Int, {nullable: false});
      bulk.addColumn('name', TYPES.NVarChar, {length: 20, nullable: true});
    };
    function* many() {
      for (let id = 0; id < 50000; id++) yield [id, id % 2 ? null : `name ${id}`];
    }
    assert.strictEqual(await load(connection, 'plain', {lockTable: true, checkConstraints: true, order: {id: 'ASC'}}, plain, many()), 50000);
    assert.deepStrictEqual((await batch(connection, "SELECT COUNT(*), SUM(CASE WHEN name = 'none' THEN 1 ELSE 0 END) FROM plain")).rows, [[50000, 25000]]);
    await batch(connection, 'ROLLBACK');
    assert.strictEqual(await load(connection, 'plain', {keepNulls: true}, plain, [[1, null]]), 1);
    assert.strictEqual(await scalar(connection, 'SELECT COUNT(*) FROM plain WHERE name IS NULL'), 1);
    await refused(load(connection, 'plain', {}, plain, [[2, 'two'], [1, 'again']]), 2627);
    await refused(load(connection, 'nowhere', {}, plain, [[2, 'two']]), 208);
    await refused(load(connection, 'plain', {fireTriggers: true}, plain, [[2, 'two']]), 50001);
    assert.strictEqual(await scalar(connection, 'SELECT COUNT(*) FROM plain'), 1);
    await batch(connection, 'DELETE plain');
    connection.close();
  },
  async a_load_can_be_cancelled(server) {
    const connection = await server.connect();
    const plain = (bulk) => bulk.addColumn('id', TYPES.Int, {nullable: false});
    async function* endless() {
      for (let id = 0; ; id++) {
        if (id % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1)); // else no timer would ever run
        yield [id];
      }
    }
    const error = await load(connection, 'plain', {}, plain, endless(), (bulk) => setTimeout(() => bulk.cancel(), 200))
      .then(() => assert.fail('not cancelled'), (reason) => reason);
    assert.strictEqual(error.code, 'ECANCEL', error.message);
    assert.strictEqual(await scalar(connection, 'SELECT COUNT(*) FROM plain'), 0);
    connection.close();
  },
};

function load(connection, table, options, addColumns, rows, started = () => {}) {
  return new Promise((resolve, reject) => {
    const bulk = connection.newBulkLoad(table, options, (error, count) => (error ? reject(error) : resolve(count)));
    addColumns(bulk);
    connection.execBulkLoad(bulk, rows);
    started(bulk);
  });
}

async function main() {
  const names = Object.keys(cases).filter((name) => process.argv.length < 3 || process.argv.includes(name));
  const server = await Server.start(SETUP);
  let failed = 0;
  for (const [index, name] of names.entries()) {
    let timer;
    const limit = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('it takes too long')), 60000); });
    const why = await Promise.race([cases[name](server), limit]).then(() => null, (error) => error);
    clearTimeout(timer);
    if (why) {
      failed++;
      for (const line of String(why.stack || why).split('\n').slice(0, 12)) console.log(`# ${line}`);
    }
    console.log(`${why ? 'not ok' : 'ok'} ${index + 1} - tedious: ${name}`);
  }
  console.log(`1..${names.length}`);
  await server.stop();
  process.exit(failed || names.length === 0 ? 1 : 0);
}

main().catch((error) => {
  console.log(`# ${error.stack}`);
  console.log('not ok - tedious: the suite broke off');
  process.exit(1);
});
