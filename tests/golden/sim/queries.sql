CREATE TABLE dbo.person (id int PRIMARY KEY, name varchar(10) NOT NULL, boss int NULL, pay decimal(8, 2) NULL);
INSERT dbo.person VALUES (1, 'Ann', NULL, 100), (2, 'Bob', 1, 50), (3, 'Cy', 1, NULL), (4, 'Di', 2, 70);
CREATE TABLE dbo.skill (person_id int, skill varchar(10));
INSERT dbo.skill VALUES (1, 'c'), (1, 'sql'), (2, 'sql'), (9, 'lost');
GO
SELECT p.name, b.name AS boss FROM dbo.person p LEFT JOIN dbo.person b ON b.id = p.boss ORDER BY p.id;
SELECT p.name, s.skill FROM dbo.person AS p FULL JOIN dbo.skill AS s ON s.person_id = p.id ORDER BY p.id, s.skill;
SELECT COUNT(*) AS n FROM dbo.person CROSS JOIN dbo.skill;
SELECT p.name, x.n FROM dbo.person p CROSS APPLY (SELECT COUNT(*) AS n FROM dbo.skill s WHERE s.person_id = p.id) x ORDER BY x.n DESC, p.name;
SELECT p.name, x.skill FROM dbo.person p OUTER APPLY (SELECT TOP (1) skill FROM dbo.skill s WHERE s.person_id = p.id ORDER BY skill DESC) x ORDER BY p.id;
GO
SELECT name FROM dbo.person WHERE pay > (SELECT AVG(pay) FROM dbo.person) ORDER BY name;
SELECT name FROM dbo.person p WHERE EXISTS (SELECT * FROM dbo.skill s WHERE s.person_id = p.id) ORDER BY name;
SELECT name FROM dbo.person WHERE id NOT IN (SELECT boss FROM dbo.person);
SELECT name FROM dbo.person WHERE pay >= ALL (SELECT pay FROM dbo.person WHERE pay IS NOT NULL);
SELECT name FROM dbo.person WHERE pay > ANY (SELECT pay FROM dbo.person) ORDER BY name;
SELECT name FROM dbo.person WHERE boss = (SELECT id FROM dbo.person);
GO
SELECT boss, COUNT(*) AS n, COUNT(pay) AS paid, SUM(pay) AS total, AVG(pay) AS average FROM dbo.person GROUP BY boss ORDER BY boss;
SELECT COUNT(*) AS n FROM dbo.person HAVING COUNT(*) > 10;
SELECT boss FROM dbo.person GROUP BY boss HAVING COUNT(*) > 1;
SELECT COUNT(DISTINCT skill) AS skills, STRING_AGG(skill, ',') WITHIN GROUP (ORDER BY skill) AS list FROM dbo.skill;
SELECT SUM(pay) AS total, MAX(pay) AS most, COUNT(*) AS n FROM dbo.person WHERE 1 = 0;
GO
SELECT name, pay FROM dbo.person GROUP BY name;
GO
SELECT name FROM dbo.person WHERE COUNT(*) > 1;
GO
SELECT name FROM dbo.person GROUP BY 1;
GO
SELECT 1 AS v UNION SELECT 2 UNION SELECT 1 ORDER BY v DESC;
SELECT 1 AS v UNION ALL SELECT 1;
SELECT skill FROM dbo.skill EXCEPT SELECT 'lost' ORDER BY skill;
SELECT skill FROM dbo.skill INTERSECT SELECT 'SQL';
SELECT id FROM dbo.person ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY;
SELECT TOP (2) WITH TIES boss FROM dbo.person ORDER BY boss DESC;
SELECT DISTINCT boss FROM dbo.person ORDER BY boss;
SELECT TOP (1) name AS n FROM dbo.person ORDER BY 1 DESC;
GO
SELECT TOP 50 PERCENT name FROM dbo.person;
GO
SELECT * FROM (SELECT 1 AS a ORDER BY a) x;
GO
SELECT v.a, v.b FROM (VALUES (1, 'x'), (2, NULL)) v(a, b) WHERE v.b IS NULL;
SELECT total = SUM(n) FROM (SELECT boss, COUNT(*) n FROM dbo.person GROUP BY boss) g;
WITH paid AS (SELECT * FROM dbo.person WHERE pay IS NOT NULL), top_paid (who, pay) AS (SELECT name, pay FROM paid WHERE pay > 60)
SELECT who FROM top_paid ORDER BY pay;
SELECT name, CASE WHEN pay IS NULL THEN 'none' WHEN pay > 60 THEN 'much' ELSE 'some' END AS kind FROM dbo.person ORDER BY id;
SELECT name FROM dbo.person WHERE name LIKE '[A-C]%' AND name NOT LIKE '_y' ORDER BY name;
GO
UPDATE p SET pay = b.pay / 2 FROM dbo.person p JOIN dbo.person b ON b.id = p.boss WHERE p.pay IS NULL;
DELETE s FROM dbo.skill s LEFT JOIN dbo.person p ON p.id = s.person_id WHERE p.id IS NULL;
SELECT name, pay FROM dbo.person WHERE id = 3;
SELECT COUNT(*) AS n FROM dbo.skill;
GO
SELECT * FROM dbo.person a JOIN dbo.skill a ON 1 = 1;
GO
SELECT * FROM dbo.person, dbo.person;
GO
INSERT TOP (1) dbo.skill SELECT id, 'new' FROM dbo.person ORDER BY id DESC;
INSERT TOP (1) dbo.skill VALUES (7, 'x'), (8, 'y');
SELECT * FROM dbo.skill WHERE skill NOT IN ('c', 'sql') ORDER BY person_id;
GO
