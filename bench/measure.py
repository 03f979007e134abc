"""What the benchmarks share: a command's wall and CPU seconds, memory, medians."""
import os
import pathlib
import statistics
import subprocess
import tempfile
import time


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def run_measured(command, server):
    """Wall and CPU seconds of a command, peak memory in MB, the server's CPU seconds meanwhile, what it printed and logged, and the numbers of that (name value ...)."""
    server_before, began = cpu_seconds(server.process.pid), time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=out, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        out.seek(0)
        log.seek(0)
        said, told = out.read(), log.read()
    if status != 0:
        raise RuntimeError(f"{' '.join(map(str, command[:2]))} failed: {told[-2000:]}")
    words = said.split()
    numbers = dict(zip(words[::2], map(float, words[1::2]))) if "blocked_s" in words else {}
    return {**numbers, "out": said, "log": told, "wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1024,
            "server_cpu": cpu_seconds(server.process.pid) - server_before}
