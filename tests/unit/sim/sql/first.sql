SELECT 1 AS a, N'x' AS b;
--> a|b
--> 1|x
--> (1)
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, customer varchar(20) NULL, amount decimal(10,2) NOT NULL DEFAULT 0);
-->
INSERT INTO orders (id, customer, amount) VALUES (1, 'ann', 10.5), (2, 'bob', 20), (3, NULL, DEFAULT);
--> (3)
SELECT * FROM orders ORDER BY id;
--> id|customer|amount
--> 1|ann|10.50
--> 2|bob|20.00
--> 3|NULL|0.00
--> (3)
--stats
SELECT id, amount FROM dbo.orders AS o WHERE o.id >= 2 AND id < 3;
--> id|amount
--> 2|20.00
--> (1)
--> stats seeks=1 scans=0 examined=1 returned=1
SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY customer ORDER BY customer;
--> customer|n|total
--> NULL|1|0.00
--> ann|1|10.50
--> bob|1|20.00
--> (3)
UPDATE orders SET amount = amount * 2 WHERE id = 2;
--> (1)
SELECT amount FROM orders WHERE id = 2;
--> amount
--> 40.00
--> (1)
DELETE FROM orders WHERE id = 3;
--> (1)
SELECT COUNT_BIG(*) FROM orders;
--> 
--> 2
--> (1)
