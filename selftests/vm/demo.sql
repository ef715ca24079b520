-- SPDX-License-Identifier: GPL-2.0-only
-- A shop's year for sqlite3: orders come in, an index is built, and somebody
-- asks questions.
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER,
	item TEXT, price REAL);

BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO customer
SELECT i, printf('customer %05d', i), 'city ' || (i * 7919 % 211) FROM n;

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO purchase
SELECT i, i * 104729 % 5000 + 1, (i * i * 31 + i * 17) % 365, hex(i * 15485863 % 9973),
	(i * 7907 % 100000) / 100.0 FROM n;
COMMIT;

CREATE INDEX purchase_by_customer ON purchase (customer, day);
ANALYZE;

.print cities by revenue
SELECT c.city, count(*), round(sum(p.price), 2) AS revenue
FROM purchase p JOIN customer c ON c.id = p.customer
GROUP BY c.city ORDER BY revenue DESC LIMIT 3;

.print customers by the longest time between two purchases
SELECT customer, max(gap) AS longest FROM (
	SELECT customer, day - lag(day) OVER (PARTITION BY customer ORDER BY day)
		AS gap FROM purchase)
GROUP BY customer ORDER BY longest DESC, customer LIMIT 3;

.print items with a pattern in their name
SELECT count(DISTINCT item), count(*) FROM purchase WHERE item LIKE '%3_3%';

.print the year as JSON
SELECT json_group_array(json_object('day', day, 'orders', orders)) FROM (
	SELECT day, count(*) AS orders FROM purchase
	GROUP BY day ORDER BY orders DESC LIMIT 3);

UPDATE purchase SET price = round(price * 1.02, 2) WHERE day % 2;
DELETE FROM purchase WHERE price < 5;
.print integrity
PRAGMA integrity_check;
