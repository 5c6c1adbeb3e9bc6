-- The Master that the Investor followed when the operation was recorded. Null without one, and in rows of earlier versions.
alter table cashflow add column master_login text;
