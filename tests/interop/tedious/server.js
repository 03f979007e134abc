// A tidesim on a free port for one run, and connections to it whose answers are promises.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const {spawn} = require('child_process');
const {Connection, Request} = require('tedious');

const BUILD = process.env.TIDELAKE_BUILD || path.join(__dirname, '../../../build');
const PASSWORD = 'Tide.Sim.1';

class Server {
  /** Starts it; `script` is T-SQL that runs first. */
  static start(script) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidelake-tedious-'));
    const init = path.join(folder, 'init.sql');
    fs.writeFileSync(init, script);
    const child = spawn(path.join(BUILD, 'tidesim'), ['serve', '--listen', '127.0.0.1:0', '--database', 'shop', '--login', 'sa:' + PASSWORD,
      '--capture-interval', 'manual', '--seed', '7', '--init', init], {stdio: ['ignore', 'pipe', 'pipe']});
    const server = new Server();
    Object.assign(server, {folder, child});
    return new Promise((resolve, reject) => {
      let out = '', err = '';
      child.stderr.on('data', (data) => { err += data; });
      child.stdout.on('data', (data) => {
        out += data;
        const ready = /^tidesim ready (.*):(\d+)$/m.exec(out);
        if (!ready) return;
        server.port = Number(ready[2]);
        resolve(server);
      });
      child.on('exit', () => reject(new Error('tidesim did not start: ' + err)));
    });
  }

  stop() {
    return new Promise((resolve) => {
      this.child.removeAllListeners('exit');
      this.child.on('exit', () => {
        fs.rmSync(this.folder, {recursive: true, force: true});
        resolve();
      });
      this.child.kill('SIGTERM');
    });
  }

  config(options = {}, user = 'sa', password = PASSWORD) {
    return {server: '127.0.0.1', authentication: {type: 'default', options: {userName: user, password}},
      options: {port: this.port, database: 'shop', encrypt: false, trustServerCertificate: true, connectTimeout: 20000, requestTimeout: 60000, ...options}};
  }

  connect(options, user, password) {
    return new Promise((resolve, reject) => {
      const connection = new Connection(this.config(options, user, password));
      connection.on('error', () => {}); // each request reports its own
      connection.connect((error) => (error ? reject(error) : resolve(connection)));
    });
  }
}

/** Runs a request by one of the connection's methods. `parameters`: [name, type, value, options, isOutput]. */
function run(connection, method, sql, parameters = [], prepare = () => {}) {
  return new Promise((resolve, reject) => {
    const result = {rows: [], results: [], outputs: {}, infos: []};
    const request = new Request(sql, (error, rowCount) => {
      if (error) return reject(Object.assign(error, {result}));
      resolve(Object.assign(result, {rowCount}));
    });
    request.on('columnMetadata', (columns) => {
      result.columns = columns;
      result.results.push([]);
    });
    request.on('row', (row) => {
      const values = row.map((column) => column.value);
      result.rows.push(values);
      result.results[result.results.length - 1].push(values);
    });
    request.on('returnValue', (name, value) => { result.outputs[name] = value; });
    request.on('doneProc', (rowCount, more, status) => { result.status = status; });
    for (const [name, type, value, options, isOutput] of parameters) {
      if (isOutput) request.addOutputParameter(name, type, value, options);
      else request.addParameter(name, type, value, options);
    }
    prepare(request, result);
    if (method) connection[method](request);
  });
}

const query = (connection, sql, parameters) => run(connection, 'execSql', sql, parameters);
const batch = (connection, sql) => run(connection, 'execSqlBatch', sql);
const call = (connection, name, parameters) => run(connection, 'callProcedure', name, parameters);

module.exports = {Server, run, query, batch, call};
