// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that keeps a profile of the connections that it has, and who opened them:
 *
 *	cc custom_self.c $(pkg-config --cflags --libs libgprof) -o custom_self
 *	./custom_self self.pb.gz && gprofctl top self.pb.gz
 *
 * Others may look while it runs; with a number of seconds it stays for that long:
 *
 *	./custom_self self.pb.gz 60 & gprofctl custom -p $! example.connections
 */
#include <fcntl.h>
#include <gprof/custom.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLIENTS	30
#define SERVERS	12

static struct gprof_custom *connections;

struct connection {
	int number;
};

/* Its caller is who has a connection too many, if somebody has. */
__attribute__((noinline)) static struct connection *connection_open(int number)
{
	struct connection *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	c->number = number;
	if (gprof_custom_add(connections, c, 1)) {
		fprintf(stderr, "not counted: %s\n", gprof_error());
		free(c);
		return NULL;
	}
	return c;
}

static void connection_close(struct connection *c)
{
	if (!c)
		return;
	gprof_custom_remove(connections, c);
	free(c);
}

__attribute__((noinline)) static void accept_clients(struct connection **all)
{
	for (int i = 0; i < CLIENTS; i++)
		all[i] = connection_open(i);
}

/* Forgets each third. */
__attribute__((noinline)) static void ask_servers(void)
{
	for (int i = 0; i < SERVERS; i++) {
		struct connection *c = connection_open(i);

		if (i % 3)
			connection_close(c);
	}
}

int main(int argc, char **argv)
{
	struct gprof_custom_config cfg = { .sz = sizeof(cfg), .name = "example.connections" };
	struct connection *clients[CLIENTS] = { NULL };
	int fd = open(argc > 1 ? argv[1] : "self.pb.gz", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	connections = gprof_custom_new(&cfg);
	if (!connections || fd < 0) {
		fprintf(stderr, "no profile: %s\n",
			fd < 0 ? "the output cannot be opened" : gprof_error());
		return 1;
	}
	accept_clients(clients);
	ask_servers();
	if (gprof_custom_write(connections, fd)) {
		fprintf(stderr, "no profile: %s\n", gprof_error());
		return 1;
	}
	printf("connections=%zu\n", gprof_custom_count(connections));
	fflush(stdout);
	if (argc > 2)
		sleep((unsigned int)atoi(argv[2]));
	for (int i = 0; i < CLIENTS; i++)
		connection_close(clients[i]);
	gprof_custom_free(connections);
	return 0;
}
