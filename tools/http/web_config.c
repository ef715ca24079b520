// SPDX-License-Identifier: GPL-2.0-only
/*
 * --web.config.file, a line at a time.
 */
#include "web_config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/diag.h"

#define FILE_MAX	65536
#define BCRYPT_LEN	60
#define SCALAR_SIZE	1024
/* A password takes some seconds at this cost, and holds up the next client. */
#define COST_MAX	15

/**
 * struct reading - a file being read
 * @c: its settings so far
 * @path: of the file
 * @line: number of the line
 * @set: takes a key of the present section, or NULL
 * @indent: of the section's lines, 0 before the first
 * @why: sentence, once something is wrong
 */
struct reading {
	struct web_config c;
	const char *path;
	unsigned int line;
	void (*set)(struct reading *r, const char *key, const char *value);
	size_t indent;
	char *why;
};

static void wrong(struct reading *r, const char *what, const char *value)
{
	if (!r->why)
		r->why = xprintf("%s:%u: %s%s%.64s%s", r->path, r->line, what, *value ? " \"" : "",
				 value, *value ? "\"" : "");
}

char *read_small_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	size_t all = 0;
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return NULL;
	errno = EINVAL;
	if (fstat(fd, &st) || S_ISDIR(st.st_mode))
		goto out;
	text = xalloc(FILE_MAX + 1, 1);
	while (all < FILE_MAX && (n = read(fd, text + all, FILE_MAX - all)) > 0)
		all += n;
	if (n >= 0 && all < FILE_MAX && strlen(text) == all)
		goto out;
	if (n >= 0)
		errno = all < FILE_MAX ? EINVAL : EFBIG;
	free(text);
	text = NULL;
out:
	close(fd);
	return text;
}

/* Files stand beside the one that names them. */
static char *beside(const struct reading *r, const char *name)
{
	const char *slash = strrchr(r->path, '/');

	if (name[0] == '/' || !slash)
		return xprintf("%s", name);
	return xprintf("%.*s/%s", (int)(slash - r->path), r->path, name);
}

static void set_file(struct reading *r, char **to, const char *key, const char *value)
{
	if (*to)
		wrong(r, "it is given twice:", key);
	else if (!*value)
		wrong(r, "a file is missing behind", key);
	else
		*to = beside(r, value);
}

static bool is_bool(const char *value)
{
	return !strcmp(value, "true") || !strcmp(value, "false");
}

static void set_tls(struct reading *r, const char *key, const char *value)
{
	if (!strcmp(key, "cert_file")) {
		set_file(r, &r->c.cert_file, key, value);
	} else if (!strcmp(key, "key_file")) {
		set_file(r, &r->c.key_file, key, value);
	} else if (!strcmp(key, "min_version")) {
		if (!strcmp(value, "TLS13"))
			r->c.tls13 = true;
		else if (strcmp(value, "TLS12"))
			wrong(r, "min_version wants TLS12 or TLS13, not", value);
	} else if (!strcmp(key, "client_auth_type")) {
		if (strcmp(value, "NoClientCert"))
			wrong(r, "certificates of clients are not looked at here, so nothing but "
			      "NoClientCert can be promised, not", value);
	} else if (strcmp(key, "prefer_server_cipher_suites") || !is_bool(value)) {
		wrong(r, "nothing is known here of", key);
	}
}

static bool is_bcrypt(const char *hash)
{
	static const char digits[] =
		"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	return strlen(hash) == BCRYPT_LEN && !strncmp(hash, "$2", 2) && strchr("aby", hash[2]) &&
	       hash[3] == '$' && isdigit((unsigned char)hash[4]) &&
	       isdigit((unsigned char)hash[5]) && hash[6] == '$' &&
	       strspn(hash + 7, digits) == BCRYPT_LEN - 7;
}

static void set_user(struct reading *r, const char *key, const char *value)
{
	for (size_t i = 0; i < r->c.nr_users; i++)
		if (!strcmp(r->c.users[i].name, key))
			wrong(r, "a user is there twice:", key);
	if (!is_bcrypt(value))
		/* The value may be a password, and sentences are read by others. */
		wrong(r, "a hash by bcrypt, such as htpasswd -nBC 10 \"\" prints, is wanted for the user",
		      key);
	else if (atoi(value + 4) < 4 || atoi(value + 4) > COST_MAX)
		wrong(r, "a cost of 4 to 15 is wanted of the hash for the user", key);
	else if (r->c.nr_users == WEB_USERS_MAX)
		wrong(r, "these are too many users, of which 64 are allowed", "");
	if (r->why)
		return;
	r->c.users[r->c.nr_users].name = xprintf("%s", key);
	r->c.users[r->c.nr_users++].hash = xprintf("%s", value);
}

static void set_http(struct reading *r, const char *key, const char *value)
{
	/* No feature of the server depends on it: clients choose HTTP/1.1. */
	if (strcmp(key, "http2") || !is_bool(value))
		wrong(r, "nothing is known here of", key);
}

static const struct {
	const char *name;
	void (*set)(struct reading *r, const char *key, const char *value);
} sections[] = {
	{ "tls_server_config", set_tls },
	{ "basic_auth_users", set_user },
	{ "http_server_config", set_http },
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *plain(const char *p, char *out, size_t *n, bool key)
{
	const char *start = p, *end;

	while (*p && !(key && *p == ':' && (!p[1] || blank(p[1]))) &&
	       !(*p == '#' && (p == start || blank(p[-1]))))
		p++;
	for (end = p; end > start && blank(end[-1]);)
		end--;
	*n = end - start;
	memcpy(out, start, *n);
	return p;
}

static const char *quoted(const char *p, char *out, size_t *n)
{
	char quote = *p++;

	for (*n = 0; *p; p++) {
		if (*p == quote && !(quote == '\'' && p[1] == quote))
			return p + 1;
		if (*p == quote || (quote == '"' && *p == '\\')) {
			p++;
			if (quote == '"' && *p != '"' && *p != '\\')
				return NULL;
		}
		out[(*n)++] = *p;
	}
	return NULL;
}

/* Take a scalar off the line; the text behind it, or NULL with a sentence. */
static const char *scalar(struct reading *r, const char *p, char out[SCALAR_SIZE], bool key)
{
	size_t n = 0;

	if (strlen(p) >= SCALAR_SIZE) {
		wrong(r, "this line is too long", "");
		return NULL;
	}
	p = *p == '"' || *p == '\'' ? quoted(p, out, &n) : plain(p, out, &n, key);
	if (!p) {
		wrong(r, "a quoted text has no end, or an escape that is not known here", "");
		return NULL;
	}
	out[n] = '\0';
	return p + strspn(p, " \t");
}

static void enter(struct reading *r, const char *key, const char *value)
{
	size_t i;

	if (*value && strcmp(value, "{}")) {
		wrong(r, "a section is written in lines below its name:", key);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (!strcmp(key, sections[i].name))
			break;
	if (i == ARRAY_SIZE(sections)) {
		wrong(r, "nothing is known here of", key);
		return;
	}
	r->set = sections[i].set;
	r->indent = 0;
}

static void parse_line(struct reading *r, const char *line)
{
	size_t indent = strspn(line, " ");
	char key[SCALAR_SIZE], value[SCALAR_SIZE] = "";
	const char *p = line + indent;

	if (!*p || *p == '#' || (!indent && !strcmp(p, "---")))
		return;
	if (strchr("\t-{[&*!|>?", *p)) {
		wrong(r, "this is more YAML than is read here: a line is KEY: VALUE, indented by spaces",
		      "");
		return;
	}
	p = scalar(r, p, key, true);
	if (!p)
		return;
	if (*p != ':' || (p[1] && !blank(p[1])) || !key[0]) {
		wrong(r, "a line is KEY: VALUE, with a blank behind the colon", "");
		return;
	}
	p++;
	p += strspn(p, " \t");
	if (*p && strchr("&*!|>[", *p)) {
		wrong(r, "this is more YAML than is read here, behind", key);
		return;
	}
	if (*p && *p != '#')
		p = scalar(r, p, value, false);
	if (p && *p && *p != '#')
		wrong(r, "something stands behind the value of", key);
	if (r->why)
		return;
	if (!indent) {
		enter(r, key, value);
		return;
	}
	if (!r->set || (r->indent && indent != r->indent)) {
		wrong(r, "this line is not indented like those before it", "");
		return;
	}
	r->indent = indent;
	r->set(r, key, value);
}

char *web_config_parse(struct web_config *c, const char *path, char *text)
{
	struct reading r = { .path = path };
	char *line, *next = text;

	while (!r.why && (line = strsep(&next, "\n"))) {
		size_t n = strlen(line);

		r.line++;
		if (n && line[n - 1] == '\r')
			line[n - 1] = '\0';
		parse_line(&r, line);
	}
	if (!r.why && !r.c.cert_file != !r.c.key_file)
		r.why = xprintf("%s: %s is missing: TLS wants cert_file and key_file", path,
				r.c.cert_file ? "key_file" : "cert_file");
	if (r.why)
		web_config_free(&r.c);
	else
		*c = r.c;
	return r.why;
}

char *web_config_read(struct web_config *c, const char *path)
{
	char *text = read_small_file(path), *why;

	if (!text)
		return xprintf("%s: %s", path, strerror(errno));
	why = web_config_parse(c, path, text);
	free(text);
	return why;
}

void web_config_free(struct web_config *c)
{
	for (size_t i = 0; i < c->nr_users; i++) {
		free(c->users[i].name);
		free(c->users[i].hash);
	}
	free(c->cert_file);
	free(c->key_file);
	*c = (struct web_config){ 0 };
}
