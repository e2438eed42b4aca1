DROP INDEX clicks_with_address;
DROP INDEX clicks_by_age;
