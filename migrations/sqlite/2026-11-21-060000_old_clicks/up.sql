-- Ways to the clicks that grow old: those to be erased, and those whose address is not cut yet.
-- Clicks come in the order of their times, so both indexes grow at their ends, which is cheap.
CREATE INDEX clicks_by_age ON clicks (occurred_at);
CREATE INDEX clicks_with_address ON clicks (occurred_at)
    WHERE length(ip) = 4 AND substr(ip, 4) <> x'00'
        OR length(ip) = 16 AND substr(ip, 7) <> x'00000000000000000000';
