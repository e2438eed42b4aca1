-- Newest first, because of the references.
DROP TABLE clicks;
DROP TABLE user_agents;
DROP TABLE changes;
DROP TABLE idempotency;
DROP TABLE refresh_tokens;
DROP TABLE sessions;
DROP TABLE admin_apps;
DROP TABLE admins;
DROP TABLE api_keys;
DROP TABLE link_tags;
DROP TABLE links;
DROP TABLE app_hosts;
DROP TABLE apps;
