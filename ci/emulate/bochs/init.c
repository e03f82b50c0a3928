/* The first and only program of the guest that Bochs boots: runs /program with the arguments and
 * the environment in /words, reports its exit on the serial line, and switches the machine off. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 512 };

static char text[1 << 16];

/* Words end with a NUL, lists of words with an empty word. Returns where the next list begins. */
static char *list(char *at, char **words)
{
	int n = 0;
	while (*at && n < WORDS - 1) {
		words[n++] = at;
		while (*at++)
			;
	}
	words[n] = NULL;
	return at + 1;
}

static void folder(const char *path, const char *kind)
{
	mkdir(path, 0777);
	if (kind)
		mount(kind, path, kind, 0, NULL);
}

int main(void)
{
	static char *arguments[WORDS], *environment[WORDS];
	int status = 0;
	int fd;

	folder("/proc", "proc");
	folder("/sys", "sysfs");
	folder("/dev", "devtmpfs");
	folder("/tmp", NULL);
	fd = open("/dev/ttyS0", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	fd = open("/words", O_RDONLY);
	if (read(fd, text, sizeof text - 2) <= 0)
		puts("no words");
	list(list(text, arguments), environment);

	puts("\n[guest begins]");
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		execve("/program", arguments, environment);
		perror("/program");
		_exit(127);
	}
	waitpid(child, &status, 0);
	printf("\n[guest ends: %d]\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	fflush(stdout);
	usleep(20000); /* for the serial line to drain */

	/* Bochs ends when its port 0x8900 is told this word. */
	iopl(3);
	for (const char *c = "Shutdown"; *c; c++)
		outb(*c, 0x8900);
	for (;;)
		pause();
}
