/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace of the host as tables, for databases.
 */
#ifndef TOOLS_VIEWS_CSV_TABLES_H
#define TOOLS_VIEWS_CSV_TABLES_H

/**
 * csv_tables_write() - write switches.csv, wakings.csv, syscalls.csv, waits.csv, threads.csv
 * @file: a trace of the host
 * @dir: where to; made where it is not there
 *
 * Return: the exit status.
 */
int csv_tables_write(const char *file, const char *dir);

#endif /* TOOLS_VIEWS_CSV_TABLES_H */
