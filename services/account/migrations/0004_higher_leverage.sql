-- The operator's limit is a setting of platform. The previous version accepts up to 500 and records no more.
alter table provisioning drop constraint provisioning_leverage_check;
alter table provisioning
  add constraint provisioning_leverage_check check (leverage between 1 and 5000) not valid;
