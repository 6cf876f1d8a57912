-- For PostgreSQL and SQLite. Amounts are cents.
CREATE TABLE accounts (name text PRIMARY KEY, balance bigint NOT NULL);
CREATE TABLE salaries (employee text PRIMARY KEY, amount bigint NOT NULL);
CREATE TABLE payments (employee text NOT NULL, amount bigint NOT NULL, value_date text NOT NULL);

INSERT INTO accounts VALUES ('payroll', 10000000);
INSERT INTO salaries VALUES ('Ada', 640000), ('Grace', 710000), ('Linus', 580000);
