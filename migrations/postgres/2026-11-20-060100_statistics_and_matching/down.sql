-- Newest first, because of the references.
DROP TABLE audit;
DROP TABLE calibration;
DROP TABLE identities;
DROP TABLE match_signals;
DROP TABLE installs;
DROP TABLE matches;
DROP TABLE journals;
DROP TABLE visitor_salts;
DROP TABLE app_days;
DROP TABLE link_days;
