/* terminal.h - a terminal whose other end is read here; what is written to it comes out as it is. Needs _GNU_SOURCE and
 * test_support.h first. */
#ifndef TIDELAKE_SUPPORT_TERMINAL_H
#define TIDELAKE_SUPPORT_TERMINAL_H

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>

static int terminal_open(int *control_out)
{
    int            control = posix_openpt(O_RDWR | O_NOCTTY);
    struct termios raw;

    assert_true(control >= 0);
    assert_int_equal(grantpt(control), 0);
    assert_int_equal(unlockpt(control), 0);
    int terminal = open(ptsname(control), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    assert_int_equal(tcgetattr(terminal, &raw), 0);
    raw.c_oflag &= (tcflag_t)~OPOST;
    assert_int_equal(tcsetattr(terminal, TCSANOW, &raw), 0);
    *control_out = control;
    return terminal;
}

#endif
