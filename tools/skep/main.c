/* SPDX-License-Identifier: BSD-2-Clause */
/* skep: finds the subcommand and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "skep/command.h"
#include "skep/ui.h"

#define COMMAND(name) extern const struct command command_##name;
#include "skep/command.def"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "skep/command.def"
#undef COMMAND
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const char *command_name_at(const void *ctx, size_t i)
{
	(void)ctx;
	return commands[i]->name;
}

static void print_help(void)
{
	printf("%sskep%s COMMAND [ARGUMENT]...\nRuns BPF programs in user space.\n\n",
	       ui_bold(stdout), ui_plain(stdout));
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  %-10s%s\n", commands[i]->name, commands[i]->line);
	printf("\n"
	       "`skep COMMAND --help` says more of each; `skep --version` prints the version.\n"
	       "Exit status: 0 done; 1 done, and the answer is no; 2 could not be done.\n\n"
	       "Example: skep run xdp_flow.bpf.o -i traffic.pcap\n");
}

static int unknown_command(const char *name)
{
	const char *guess = suggest(name, N_COMMANDS, command_name_at, NULL);

	if (guess)
		return ui_unable("unknown command '%s'; did you mean `skep %s`?", name, guess);
	return ui_unable("unknown command '%s'; `skep --help` lists them", name);
}

static int dispatch(int argc, char **argv)
{
	if (argc < 2)
		return ui_unable("no command; `skep --help` lists them");
	if (argc == 3 && strcmp(argv[1], "help") == 0)
		return dispatch(3, (char *[]){ argv[0], argv[2], (char *)"--help", NULL });
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		print_help();
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("skep %s\n", SKEP_VERSION);
		return 0;
	}
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(argv[1], commands[i]->name) == 0)
			return command_run_with(commands[i], argc - 2, argv + 2);
	return unknown_command(argv[1]);
}

/* Whoever started us may have closed the standard streams. Their numbers must not go to a map's
 * memory or to the file of -o, which would then get what is printed. Writing to one that was closed
 * fails, as it should. */
static bool streams_hold(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	int status;

	if (!streams_hold())
		return 2;
	signal(SIGPIPE, SIG_IGN);
	status = dispatch(argc, argv);
	if (fflush(stdout) || ferror(stdout))
		return errno == EPIPE ? status : ui_unable("standard output: %s", strerror(errno));
	return status;
}
