/* Sockets that a driver closes when it likes: a stop reaches the right one, or none. The test plays
 * the driver, and takes its descriptor away at the very moment of the shutdown. */
#define _GNU_SOURCE /* syscall */
#include "support/test_support.h"

#include "sqlconn/odbc_internal.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Whose number the next shutdown finds given to somebody else; -1: as usual. The only state of this
 * program: the C library's functions have no other way to be told. */
static struct {
    int number, heir;
} change = {-1, -1};

int shutdown(int fd, int how)
{
    if (change.number >= 0) assert_int_equal(dup2(change.heir, change.number), change.number);
    change.number = -1;
    return (int)syscall(SYS_shutdown, fd, how);
}

/* --- two ends --- */

typedef struct Pair {
    int ours, theirs; /* the driver's and the server's, or anybody's */
} Pair;

typedef struct World {
    OdbcDriver driver;
    OdbcConn   conn;
    int        listener;
    uint16_t   port;
    Pair       pair, other;
} World;

static int listen_on(uint16_t *port_out)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len     = sizeof address;
    int                fd      = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port_out = ntohs(address.sin_port);
    return fd;
}

static Pair connect_to(int listener, uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    Pair pair = {.ours = socket(AF_INET, SOCK_STREAM, 0)};

    assert_int_equal(connect(pair.ours, (struct sockaddr *)&address, sizeof address), 0);
    pair.theirs = accept(listener, NULL, NULL);
    assert_true(pair.theirs >= 0);
    return pair;
}

static void close_pair(Pair *pair)
{
    if (pair->ours >= 0) close(pair->ours);
    if (pair->theirs >= 0) close(pair->theirs);
    *pair = (Pair){-1, -1};
}

static bool has_ended(int fd, int wait_ms)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    char          byte;

    return poll(&wanted, 1, wait_ms) == 1 && recv(fd, &byte, 1, MSG_PEEK) <= 0;
}

static void assert_open(const Pair *pair)
{
    char byte = 0;

    assert_int_equal(send(pair->ours, "a", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(read(pair->theirs, &byte, 1), 1);
    assert_int_equal(send(pair->theirs, "b", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(read(pair->ours, &byte, 1), 1);
    assert_int_equal(byte, 'b');
}

static size_t count_open(void)
{
    DIR   *folder = opendir("/proc/self/fd");
    size_t count  = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void add_conn(World *world, OdbcConn *conn)
{
    pthread_mutex_init(&conn->lock, NULL);
    conn->driver        = &world->driver;
    conn->family        = DRIVER_MICROSOFT;
    conn->socket.own    = -1;
    conn->next          = world->driver.conns;
    world->driver.conns = conn;
}

static int open_world(void **state)
{
    World *world = mem_alloc(sizeof *world);
    int    ends[2];

    pthread_mutex_init(&world->driver.lock, NULL);
    pthread_mutex_init(&world->driver.find_lock, NULL);
    add_conn(world, &world->conn);
    world->listener = listen_on(&world->port);
    world->pair     = connect_to(world->listener, world->port);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    world->other = (Pair){ends[0], ends[1]};
    *state       = world;
    return 0;
}

static int close_world(void **state)
{
    World *world = *state;

    odbc_conn_drop_socket(&world->conn);
    close_pair(&world->pair);
    close_pair(&world->other);
    close(world->listener);
    pthread_mutex_destroy(&world->conn.lock);
    pthread_mutex_destroy(&world->driver.find_lock);
    pthread_mutex_destroy(&world->driver.lock);
    mem_free(world);
    change.number = -1;
    return 0;
}

/* --- a cut --- */

static void a_cut_misses_whoever_gets_the_number_of_the_socket(void **state)
{
    World *world = *state;

    odbc_conn_keep_socket(&world->conn, world->pair.ours);
    change.number = world->pair.ours; /* the driver closes it just then */
    change.heir   = world->other.ours;
    odbc_conn_cut(&world->conn);
    assert_int_equal(change.number, -1);
    assert_open(&(Pair){world->pair.ours, world->other.theirs});
    assert_true(has_ended(world->pair.theirs, 1000));
    assert_true(atomic_load(&world->conn.is_cut));
}

static void a_stop_without_a_known_socket_misses_it_too(void **state)
{
    World *world = *state;

    world->conn.port = world->port;
    change.number    = world->pair.ours;
    change.heir      = world->other.ours;
    odbc_conn_stop(&world->conn);
    assert_int_equal(change.number, -1);
    assert_open(&(Pair){world->pair.ours, world->other.theirs});
    assert_true(has_ended(world->pair.theirs, 1000));
}

static void what_is_abandoned_misses_it_too(void **state)
{
    World *world = *state;

    odbc_conn_keep_socket(&world->conn, world->pair.ours);
    assert_int_equal(dup2(world->other.ours, world->pair.ours), world->pair.ours);
    assert_false(has_ended(world->pair.theirs, 0)); /* the server has not heard of it */
    odbc_conn_abandon(&world->conn, NULL);
    assert_open(&(Pair){world->pair.ours, world->other.theirs});
    assert_true(has_ended(world->pair.theirs, 1000));
}

/* Microsoft's driver takes another socket by itself when the server has closed an idle one. */
static void a_socket_that_has_ended_is_not_what_a_call_waits_for(void **state)
{
    World  *world = *state;
    int64_t silence_ms;

    odbc_conn_keep_socket(&world->conn, world->pair.ours);
    assert_true(odbc_socket_silence_ms(&world->conn.socket, &silence_ms));
    close(world->pair.theirs);
    world->pair.theirs = -1;
    assert_true(has_ended(world->pair.ours, 1000));
    assert_false(odbc_socket_silence_ms(&world->conn.socket, &silence_ms));
    odbc_conn_cut(&world->conn);
    assert_false(atomic_load(&world->conn.is_cut));
}

static void a_login_that_a_stop_came_too_early_for_is_cut_off(void **state)
{
    World *world = *state;
    Err    err   = ERR_INIT;
    Pair   late;
    int    handle;

    world->driver.cancel = cancel_new();
    world->conn.port     = world->port;
    close_pair(&world->pair);
    assert_ok(odbc_watch_start(&world->driver, &err), &err);
    handle = odbc_block_begin(&world->conn, NULL);
    cancel_request(world->driver.cancel);
    late = connect_to(world->listener, world->port);
    assert_true(has_ended(late.theirs, 5000));
    odbc_block_end(&world->conn, handle);
    odbc_watch_stop(&world->driver);
    cancel_close(world->driver.cancel);
    close_pair(&late);
}

/* --- descriptors --- */

static void the_duplicate_goes_before_the_server_is_to_hear_of_the_end(void **state)
{
    World *world  = *state;
    size_t before = count_open();

    for (int i = 0; i < 3; i++)
        odbc_conn_keep_socket(&world->conn, world->pair.ours);
    assert_int_equal(count_open(), before + 1);
    assert_int_equal(fcntl(world->conn.socket.own, F_GETFD), FD_CLOEXEC);
    odbc_conn_drop_socket(&world->conn);
    assert_int_equal(count_open(), before);
    close(world->pair.ours);
    world->pair.ours = -1;
    assert_true(has_ended(world->pair.theirs, 1000));
}

static void without_a_descriptor_to_spare_the_socket_is_unknown(void **state)
{
    World        *world = *state;
    struct rlimit limit, none;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none          = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    odbc_conn_keep_socket(&world->conn, world->pair.ours);
    odbc_conn_cut(&world->conn);
    world->conn.port = world->port;
    odbc_conn_stop(&world->conn);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(world->conn.socket.own, -1);
    assert_open(&world->pair);
}

static bool is_locked_to_others(int fd)
{
    pid_t child  = fork();
    int   status = 0;

    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 7 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

/* A file that is duplicated and closed again would lose the locks that the process has on it. */
static void only_a_socket_is_kept(void **state)
{
    World       *world  = *state;
    struct flock lock   = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    size_t       before = count_open();
    FILE        *file   = tmpfile();
    int          pipes[2];

    assert_int_equal(fcntl(fileno(file), F_SETLK, &lock), 0);
    odbc_conn_keep_socket(&world->conn, fileno(file));
    assert_int_equal(world->conn.socket.own, -1);
    assert_true(is_locked_to_others(fileno(file)));
    (void)fclose(file);
    assert_int_equal(pipe(pipes), 0);
    odbc_conn_keep_socket(&world->conn, pipes[0]);
    assert_int_equal(world->conn.socket.own, -1);
    odbc_conn_keep_socket(&world->conn, world->other.ours);
    assert_int_equal(world->conn.socket.own, -1);
    close(pipes[0]);
    close(pipes[1]);
    odbc_conn_keep_socket(&world->conn, pipes[0]);
    assert_int_equal(world->conn.socket.own, -1);
    assert_int_equal(count_open(), before);
}

/* --- which one it is --- */

/* A first statement: bytes for the connection's socket, and in its first `noisy` runs for another
 * login's too. */
typedef struct Asked {
    OdbcConn  conn;
    SqlResult result;
    Pair      own, login, taken;
    int       noisy, count;
} Asked;

static bool no_rows(RowStream *stream, RowBlock *out, Err *err)
{
    (void)stream, (void)err;
    *out = (RowBlock){0};
    return true;
}

static bool answer(SqlConn *base, const SqlQuery *query, SqlResult **out, Err *err)
{
    Asked *asked = (Asked *)base;

    (void)query, (void)err;
    assert_open(&asked->own);
    assert_open(&asked->taken);
    if (asked->count++ < asked->noisy) assert_open(&asked->login);
    asked->result = (SqlResult){.stream.next = no_rows};
    *out          = &asked->result;
    return true;
}

static void run_first(World *world, Asked *asked, int noisy)
{
    Err err = ERR_INIT;

    *asked = (Asked){.conn.base.query = answer, .noisy = noisy};
    add_conn(world, &asked->conn);
    asked->conn.port = world->port;
    asked->own       = connect_to(world->listener, world->port);
    asked->login     = connect_to(world->listener, world->port);
    asked->taken     = world->pair;
    odbc_conn_keep_socket(&world->conn, world->pair.ours);
    size_t before = count_open();
    assert_ok(odbc_conn_run_first(&asked->conn, STR("SET TEXTSIZE 1"), &err), &err);
    assert_int_equal(count_open(), before + (asked->conn.socket.own >= 0));
}

static void forget(World *world, Asked *asked)
{
    odbc_conn_drop_socket(&asked->conn);
    world->driver.conns = asked->conn.next;
    pthread_mutex_destroy(&asked->conn.lock);
    close_pair(&asked->own);
    close_pair(&asked->login);
}

static void the_socket_is_the_one_that_is_busy_and_nobodys(void **state)
{
    World *world = *state;
    Asked  asked;

    for (int noisy = 0; noisy < 3; noisy++) {
        run_first(world, &asked, noisy);
        assert_int_equal(asked.count, noisy + 1);
        odbc_conn_cut(&asked.conn);
        assert_true(has_ended(asked.own.theirs, 1000));
        assert_open(&asked.login);
        assert_open(&world->pair);
        forget(world, &asked);
    }
    run_first(world, &asked, 3);
    assert_int_equal(asked.count, 3);
    assert_int_equal(asked.conn.socket.own, -1);
    forget(world, &asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cut_misses_whoever_gets_the_number_of_the_socket,
                                        open_world, close_world),
        cmocka_unit_test_setup_teardown(a_stop_without_a_known_socket_misses_it_too, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(what_is_abandoned_misses_it_too, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_socket_that_has_ended_is_not_what_a_call_waits_for,
                                        open_world, close_world),
        cmocka_unit_test_setup_teardown(a_login_that_a_stop_came_too_early_for_is_cut_off,
                                        open_world, close_world),
        cmocka_unit_test_setup_teardown(the_duplicate_goes_before_the_server_is_to_hear_of_the_end,
                                        open_world, close_world),
        cmocka_unit_test_setup_teardown(without_a_descriptor_to_spare_the_socket_is_unknown,
                                        open_world, close_world),
        cmocka_unit_test_setup_teardown(only_a_socket_is_kept, open_world, close_world),
        cmocka_unit_test_setup_teardown(the_socket_is_the_one_that_is_busy_and_nobodys, open_world,
                                        close_world),
    };

    return RUN_TESTS(tests);
}
