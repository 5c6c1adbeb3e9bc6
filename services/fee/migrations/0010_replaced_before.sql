-- Versions that were replaced before the trigger noted it. Their entries never change, and no writer waits.
select note_replaced_versions(investor_login, 0) from fee_configuration;
