ALTER TABLE link_days RESET (fillfactor);
DROP INDEX clicks_with_address;
DROP INDEX clicks_by_age;
