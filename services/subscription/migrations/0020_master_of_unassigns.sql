-- The Master that the Investor follows, as its subscription has it, so that the unassigns of a Master are found by an index. Null in rows of
-- versions that do not write it, until a job has copied it.
alter table unassignment add column master_login text;
