-- What came in today.
INSERT INTO stock SELECT * FROM incoming;
TRUNCATE incoming;
