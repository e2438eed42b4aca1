-- Ways to the clicks that grow old: those to be erased, and those whose address is not cut yet.
-- Clicks come in the order of their times, so a summary of every few pages finds the old ones.
CREATE INDEX clicks_by_age ON clicks USING brin (occurred_at);
CREATE INDEX clicks_with_address ON clicks (occurred_at)
    WHERE length(ip) = 4 AND substr(ip, 4) <> '\x00'::bytea
        OR length(ip) = 16 AND substr(ip, 7) <> '\x00000000000000000000'::bytea;
-- The rows of today are written anew with every batch; with room beside it a row stays on its page.
ALTER TABLE link_days SET (fillfactor = 60);
