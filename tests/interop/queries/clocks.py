"""What local times mean, by Python's own time zones, and a database that is written to at times the test chooses."""
import datetime
import tempfile
import zoneinfo

from both import Both, Server, Session

HOUR, MINUTE = datetime.timedelta(hours=1), datetime.timedelta(minutes=1)
ZERO = bytes(10)
COLUMNS = ["id", "name", "amount", "at", "twice"]


def tick(moment):
    """As a datetime holds it, to the millisecond: 1/300 s, shown as .000, .003 and .007."""
    whole = moment.replace(microsecond=0)
    ticks = (moment.microsecond * 3 + 5000) // 10000
    return whole + datetime.timedelta(milliseconds=(ticks * 10 + 1) // 3)


def style126(moment):
    return moment.isoformat(timespec="milliseconds") if moment.microsecond else moment.isoformat()


def hexed(lsn):
    return None if lsn is None else "0x" + lsn.hex().upper()


def stepped(lsn, step):
    return (int.from_bytes(lsn, "big") + step).to_bytes(10, "big")


class Zone:
    def __init__(self, windows, iana):
        self.windows, self.info = windows, zoneinfo.ZoneInfo(iana)

    def local(self, utc):
        return utc.replace(tzinfo=datetime.timezone.utc).astimezone(self.info).replace(tzinfo=None)

    def offset(self, local):
        """Minutes east that AT TIME ZONE takes: before the change for a time that comes twice, after it for one that never comes."""
        first, second = (int(local.replace(tzinfo=self.info, fold=fold).utcoffset().total_seconds()) // 60 for fold in (0, 1))
        return max(first, second)

    def can_repeat(self, local):
        now, later = self.offset(local), self.offset(local + 3 * HOUR)
        return later < now and self.offset(local + (now - later) * MINUTE) == later


ZONES = {"UTC": Zone("UTC", "Etc/UTC"), "fixed": Zone("India Standard Time", "Asia/Kolkata"),
         "Central European": Zone("Central European Standard Time", "Europe/Warsaw")}


class Entry:
    """A row of cdc.lsn_time_mapping, and when it really was."""

    def __init__(self, lsn, utc, local, changes):
        self.lsn, self.utc, self.local, self.changes = lsn, utc, local, changes


class World:
    """A server in a zone whose clock is set by hand; `entries` is what the mapping must hold, in LSN order."""

    def __init__(self, zone):
        self.zone = zone
        folder = tempfile.mkdtemp(prefix="tidelake-queries-")
        self.server = Server(folder, "--clock", "virtual", "--capture-interval", "manual", "--time-zone", zone.windows, "--seed", "9")
        self.admin = Session(self.server, "FreeTDS")
        self.now = datetime.datetime(2026, 3, 28, 17, 30)
        self.admin.rows(f"EXEC tidesim.clock 'virtual', '{self.now.isoformat()}'")
        self.expected, self.next_id, self.alive = [], 1, {}
        for sql in ("CREATE TABLE dbo.first (id int NOT NULL PRIMARY KEY, name varchar(20) NULL, amount decimal(10,2) NULL, at datetime2(3) NULL, twice AS id * 2)",
                    "CREATE TABLE dbo.second (id int NOT NULL PRIMARY KEY, word nvarchar(10) NULL)",
                    "EXEC sys.sp_cdc_enable_db"):
            self.admin.rows(sql)
        self.both = Both(self.server)
        self.before_capture = (self.both.rows("SELECT CONVERT(varchar(22), sys.fn_cdc_get_max_lsn(), 1)")[0][0],)
        self.enable("first")
        self.enable("second")
        self.before_capture += (self.both.rows("SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn(?), 1)", ["dbo_first"])[0][0],)

    def enable(self, table, instance=None):
        self.admin.rows(f"EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'{table}', @role_name = NULL" +
                        (f", @capture_instance = N'{instance}'" if instance else ""))
        self.expected.append((self.now, None))

    def at(self, utc):
        ms = (utc - self.now) // datetime.timedelta(milliseconds=1)
        assert ms >= 0, (self.now, utc)
        self.admin.rows(f"EXEC tidesim.clock_advance @ms = {ms}")
        self.now = utc

    def commit(self, utc, rows=1):
        """A transaction of `rows` inserts, and now and then an update and a delete of rows before."""
        self.at(utc)
        changes, texts = [], []
        for _ in range(rows):
            values = (self.next_id, f"row {self.next_id}", self.next_id * 25, utc.replace(microsecond=utc.microsecond // 1000 * 1000))
            texts.append(f"INSERT dbo.first VALUES ({values[0]}, '{values[1]}', {values[2] / 100:.2f}, '{values[3].isoformat(timespec='milliseconds')}')")
            changes.append((2, *values))
            self.alive[values[0]] = values
            self.next_id += 1
        if self.next_id % 4 == 0:
            key = max(self.alive) - 2
            if key in self.alive:
                old = self.alive[key]
                new = (*old[:2], -old[2], old[3])
                texts.append(f"UPDATE dbo.first SET amount = -amount WHERE id = {key}")
                changes += [(3, *old), (4, *new)]
                self.alive[key] = new
        if self.next_id % 5 == 0:
            key = min(self.alive)
            texts.append(f"DELETE dbo.first WHERE id = {key}")
            changes.append((1, *self.alive.pop(key)))
        self.admin.rows("BEGIN TRAN; " + "; ".join(texts) + "; COMMIT")
        self.expected.append((utc, changes))

    def other(self, utc, word):
        self.at(utc)
        self.admin.rows(f"INSERT dbo.second VALUES ({int(utc.timestamp())}, N'{word}')")
        self.expected.append((utc, []))

    def idle(self, utc):
        self.at(utc)
        self.admin.rows("EXEC tidesim.scan_now")
        self.admin.rows("EXEC tidesim.idle_now")
        self.expected.append((utc, []))

    def captured(self):
        """After a scan: what the mapping holds, with what the test knows of each entry. LSNs are the server's to choose."""
        self.admin.rows("EXEC tidesim.scan_now")
        raw = self.both.rows("SELECT start_lsn, tran_end_time FROM cdc.lsn_time_mapping ORDER BY start_lsn")
        assert len(raw) == len(self.expected), f"{len(raw)} entries, wanted {len(self.expected)}"
        self.entries = []
        for (lsn, local), (utc, changes) in zip(raw, self.expected):
            assert local == tick(self.zone.local(utc)), f"{lsn.hex()}: {local}, wanted {tick(self.zone.local(utc))}"
            self.entries.append(Entry(lsn, tick(utc), local, changes))

    def before(self, local):
        """BEFORE(t) of the clients: the last entry in order of local time that reads three hours less."""
        below = [entry for entry in self.entries if entry.local <= local - 3 * HOUR]
        return max(below, key=lambda entry: (entry.local, entry.lsn)).lsn if below else ZERO

    def drops(self, low, high):
        """DROPS(from, to): entries whose clock went back, each with its local time."""
        window = [entry for entry in self.entries if low < entry.lsn <= high]
        return [(entry.lsn, entry.local) for prev, entry in zip(window, window[1:])
                if entry.local < prev.local - MINUTE and self.zone.can_repeat(entry.local)]

    def close(self):
        self.admin.close()
        self.both.close()
        self.server.close()


def world_of(name):
    """The database of the tests, in that zone. In Central Europe its commits surround both changes of the clock."""
    zone, world = ZONES[name], World(ZONES[name])
    ms = datetime.timedelta(milliseconds=1)
    moments = [datetime.datetime(2026, 3, 28, 18) + n * 25 * MINUTE + n * 37 * ms for n in range(26)]
    if name == "Central European":
        moments += [datetime.datetime(2026, 4, 10, 12) + n * 20 * 24 * HOUR for n in range(9)]
        moments += [datetime.datetime(2026, 10, 24, 20) + n * 7 * MINUTE + n * 113 * ms for n in range(80)]
        moments += [datetime.datetime(2026, 10, 25, 0, 59, 59, 997000), datetime.datetime(2026, 10, 25, 1, 0, 0)]
        moments += [datetime.datetime(2026, 11, 10, 8), datetime.datetime(2026, 11, 11, 8, 0, 0, 4000)]
    for at, moment in enumerate(sorted(moments)):
        if at % 9 == 7:
            world.other(moment, f"w{at}")
        elif at % 13 == 11:
            world.idle(moment)
        else:
            world.commit(moment, at % 3 + 1)
    world.captured()
    return world
