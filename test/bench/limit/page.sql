-- A random page of the directory of Investors as a script for pgbench: the one select of the page, with the row that shows
-- whether more follow.

\set after random(0, :last)
select id, login, name, created_at
from account.investor
where id > :after
order by id
limit 101;
