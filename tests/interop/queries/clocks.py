"""What local times mean, by Python's own time zones, and a database that is written to at times the test chooses."""
import datetime
import random
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


    def changes(self):
        """The moments in UTC at which the clock of 2026 goes on and goes back; None without summer time."""
        found, at = {}, datetime.datetime(2026, 1, 1)
        while at.year == 2026:
            step = (self.local(at + HOUR / 2) - self.local(at)) - HOUR / 2
            if step:
                found["back" if step < 0 * HOUR else "on"] = at + HOUR / 2
            at += HOUR / 2
        return found and (found["on"], found["back"])


ZONES = {"UTC": Zone("UTC", "Etc/UTC"), "fixed": Zone("India Standard Time", "Asia/Kolkata"),
         "Central European": Zone("Central European Standard Time", "Europe/Warsaw"), "Eastern": Zone("Eastern Standard Time", "America/New_York"),
         "half an hour": Zone("Lord Howe Standard Time", "Australia/Lord_Howe")}


class Entry:
    """A row of cdc.lsn_time_mapping, and when it really was."""

    def __init__(self, lsn, utc, local, changes):
        self.lsn, self.utc, self.local, self.changes = lsn, utc, local, changes


class World:
    """A server in a zone whose clock is set by hand; `entries` is what the mapping must hold, in LSN order."""

    def __init__(self, zone, start):
        self.zone = zone
        self.server = Server("--clock", "virtual", "--time-zone", zone.windows, "--seed", "9")
        self.admin = Session(self.server, "FreeTDS")
        self.now = start
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


def moments_of(zone):
    """When to commit: around both changes of the clock, and now and then between them; Central Europe's year decides the other zones'."""
    ms = datetime.timedelta(milliseconds=1)
    changes = zone.changes()
    if not changes:
        return [datetime.datetime(2026, 3, 28, 18) + n * 25 * MINUTE + n * 37 * ms for n in range(26)]
    on, back = changes
    moments = [on - 7 * HOUR + n * 25 * MINUTE + n * 37 * ms for n in range(26)]
    moments += [back - 5 * HOUR + n * 7 * MINUTE + n * 113 * ms for n in range(80)]
    moments += [back - 3 * ms, back, min(changes) - 24 * HOUR, max(changes) + 30 * 24 * HOUR, max(changes) + 31 * 24 * HOUR + 4 * ms]
    return moments + [min(changes) + n * 20 * 24 * HOUR for n in range(1, 9) if min(changes) + n * 20 * 24 * HOUR < max(changes) - 24 * HOUR]


def world_of(name, moments=None):
    """The database of the tests, in that zone."""
    zone = ZONES[name]
    moments = sorted(moments or moments_of(zone))
    world = World(zone, moments[0] - 30 * MINUTE)
    for at, moment in enumerate(moments):
        if at % 9 == 7:
            world.other(moment, f"w{at}")
        elif at % 13 == 11:
            world.idle(moment)
        else:
            world.commit(moment, at % 3 + 1)
    world.captured()
    if name in ("Eastern", "half an hour"):  # every way was tried in Central Europe
        world.both.rng = random.Random(2)
    return world
