-- The units by which an Investor has its part of a result; null for parts of before. The previous release writes none.
alter table allocation_row add column units numeric;
