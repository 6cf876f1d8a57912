-- One transaction: the sum and the mark on its orders belong together.
INSERT INTO revenue (day, sum)
SELECT :end::timestamptz::date - 1, coalesce(sum(total), 0)
FROM orders WHERE ordered_at >= :start AND ordered_at < :end;

UPDATE orders SET counted = true WHERE ordered_at >= :start AND ordered_at < :end;

SELECT day, sum FROM revenue ORDER BY day DESC LIMIT 1;
