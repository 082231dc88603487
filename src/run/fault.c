/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/fault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "jit/jit.h"

static const int signals[] = { SIGSEGV, SIGBUS };
enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_err;
/* What the application had; written before our handler is installed. */
static struct sigaction behind[SIGNALS];

static const struct sigaction *action_behind(int sig)
{
	for (int i = 0; i < SIGNALS; i++)
		if (signals[i] == sig)
			return &behind[i];
	return NULL;
}

/* What the kernel would have done without us. An ignored or defaulted fault ends the process: with
 * the default action in place the instruction runs and faults again; a signal that was sent is sent
 * again, and arrives when we return. */
static void action_default(int sig, const siginfo_t *info, bool ignored)
{
	bool sent = info->si_code <= 0;

	if (sent && ignored)
		return;
	signal(sig, SIG_DFL);
	if (sent)
		raise(sig);
}

/* The mask that a handler sets holds until the signal returns, which restores the old one. */
static void action_call(const struct sigaction *a, int sig, siginfo_t *info, void *context)
{
	sigset_t mask = a->sa_mask;

	if (!(a->sa_flags & SA_NODEFER))
		sigaddset(&mask, sig);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	if (a->sa_flags & (int)SA_RESETHAND)
		signal(sig, SIG_DFL);
	if (a->sa_flags & SA_SIGINFO)
		a->sa_sigaction(sig, info, context);
	else
		a->sa_handler(sig);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *a = action_behind(sig);
	int saved = errno;

	if (info->si_code > 0 && image_resume(context))
		return;
	if (a->sa_handler == SIG_DFL || a->sa_handler == SIG_IGN)
		action_default(sig, info, a->sa_handler == SIG_IGN);
	else
		action_call(a, sig, info, context);
	errno = saved;
}

static int handler_install(int i)
{
	struct sigaction ours = { .sa_sigaction = on_fault,
				  .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	sigemptyset(&ours.sa_mask);
	if (sigaction(signals[i], NULL, &behind[i]) || sigaction(signals[i], &ours, NULL))
		return -errno;
	return 0;
}

static void handlers_install(void)
{
	for (int i = 0; i < SIGNALS && !once_err; i++)
		once_err = handler_install(i);
}

int fault_init(void)
{
	pthread_once(&once, handlers_install);
	return once_err;
}
